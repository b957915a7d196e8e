/** The dialog of settings for this browser, which are kept. */
import { askPermission, permission, supported } from "../state/notify.js";
import { BELLS, bell, chooseFontPixels, FONT, fitting, fontPixels, readable } from "../state/settings.js";
import { chosenTheme, THEMES } from "../state/theme.js";
import { Button } from "../ui/button.js";
import { Dialog } from "../ui/dialog.js";
import { tell } from "../ui/toasts.js";

export const SettingsDialog = ({ onClose }: { onClose: () => void }) => (
	<Dialog title="Settings" onClose={onClose}>
		<div class="two">
			<label class="field">
				<span>Colours</span>
				<select class="input" value={chosenTheme.value} onChange={(event) => (chosenTheme.value = event.currentTarget.value)}>
					{Object.entries(THEMES).map(([key, words]) => (
						<option key={key} value={key}>
							{words}
						</option>
					))}
				</select>
			</label>
			<label class="field">
				<span>Text in terminals</span>
				<input
					class="input"
					type="number"
					min={FONT.least}
					max={FONT.most}
					value={fontPixels()}
					onChange={(event) => {
						if (event.currentTarget.validity.valid && event.currentTarget.value) chooseFontPixels(event.currentTarget.valueAsNumber);
					}}
				/>
				<small>
					pixels, {FONT.least} to {FONT.most}
				</small>
			</label>
		</div>
		<label class="field">
			<span>When a program rings the bell</span>
			<select class="input" value={bell.value} onChange={(event) => (bell.value = event.currentTarget.value)}>
				{Object.entries(BELLS).map(([key, words]) => (
					<option key={key} value={key}>
						{words}
					</option>
				))}
			</select>
		</label>
		<Check on={fitting}>Give a program the size of the window while you have its keyboard</Check>
		<Check on={readable}>Every line of a terminal as text, for a screen reader</Check>
		{supported && (
			<p class="quiet">
				{permission.value === "granted" ? (
					"This browser tells you by notifications when something waits for you."
				) : permission.value === "denied" ? (
					"Notifications are forbidden for this page in the browser's settings."
				) : (
					<Button icon="bell" onClick={() => tell(askPermission())}>
						Notify me when something waits
					</Button>
				)}
			</p>
		)}
		<p class="quiet">Kept in this browser.</p>
	</Dialog>
);

const Check = ({ on, children }: { on: { value: string }; children: string }) => (
	<label class="check">
		<input type="checkbox" checked={on.value === "yes"} onChange={(event) => (on.value = event.currentTarget.checked ? "yes" : "no")} /> {children}
	</label>
);
