/** The sheet of keys. */
import { Dialog } from "../ui/dialog.js";

const SHEET: readonly [title: string, keys: readonly [keys: string, what: string][]][] = [
	[
		"Anywhere but in a field or a terminal",
		[
			["↑ ↓  or  j k", "go through the list"],
			["Enter", "open the terminal; once more: go into it"],
			["t", "take the keyboard of the terminal on show"],
			["p", "pin it in the list, or unpin it"],
			["b", "show it beside what is on show, or take it out; up to four"],
			["/", "filter the list"],
			["n", "start something"],
			["← →", "go through a row of buttons, or the headings of the list"],
			["?", "this sheet"],
		],
	],
	[
		"In a terminal that you only look at",
		[
			["↑ ↓  Page Up  Page Down", "scroll; over the upper edge there is older output"],
			["Tab", "go on"],
		],
	],
	[
		"In a terminal whose keyboard you have, all keys are the program's, but",
		[
			["Ctrl+F6", "leave the terminal"],
			["Shift+Page Up  Shift+Page Down", "scroll"],
			["Ctrl+C", "copy, while something is selected"],
		],
	],
];

export const KeysDialog = ({ onClose }: { onClose: () => void }) => (
	<Dialog title="Keys" onClose={onClose}>
		{SHEET.map(([title, keys]) => (
			<section key={title} class="sheet">
				<h3>{title}</h3>
				<dl>
					{keys.map(([key, what]) => (
						<div key={key}>
							<dt>
								<kbd>{key}</kbd>
							</dt>
							<dd>{what}</dd>
						</div>
					))}
				</dl>
			</section>
		))}
	</Dialog>
);
