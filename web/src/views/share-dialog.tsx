/** A read-only link to this one terminal, and for how long it is valid. */
import { useState } from "preact/hooks";
import type { ViewerLink } from "../../../src/doors/http/schemas.js";
import { viewerLink } from "../api/calls.js";
import { Button } from "../ui/button.js";
import { copy } from "../ui/clipboard.js";
import { Dialog } from "../ui/dialog.js";
import { tell } from "../ui/toasts.js";

const LASTS = { "ten minutes": 600, "an hour": 3_600, "a day": 86_400, "a week": 604_800 } as const;

export function ShareDialog({ id, onClose }: { id: string; onClose: () => void }) {
	const [seconds, setSeconds] = useState<number>(LASTS["an hour"]);
	const [keyboard, setKeyboard] = useState(false);
	const [made, setMade] = useState<ViewerLink>();
	const url = made && new URL(made.url, location.href).href;
	return (
		<Dialog title="A link to this terminal" onClose={onClose}>
			{url === undefined ? (
				<>
					<p>
						{keyboard
							? "The first browser that opens it sees this one terminal, live, and may take its keyboard until it hands it back."
							: "Every visitor with this link sees this one terminal, live, and cannot change it."}
					</p>
					<label>
						<input type="checkbox" checked={keyboard} onChange={(event) => setKeyboard(event.currentTarget.checked)} /> May take the keyboard, once
					</label>
					<label class="field">
						<span>It works for</span>
						<select class="input" value={seconds} onChange={(event) => setSeconds(Number(event.currentTarget.value))}>
							{Object.entries(LASTS)
								.filter(([, value]) => !keyboard || value <= LASTS["a day"])
								.map(([word, value]) => (
									<option key={word} value={value}>
										{word}
									</option>
								))}
						</select>
					</label>
					<div class="actions end">
						<Button
							kind="primary"
							icon="link"
							onClick={() => tell(viewerLink(id, Math.min(seconds, keyboard ? LASTS["a day"] : seconds), keyboard).then(setMade))}
						>
							Make the link
						</Button>
					</div>
				</>
			) : (
				<>
					<label class="field">
						<span>The link, shown this once</span>
						<input class="input mono" readOnly value={url} onFocus={(event) => event.currentTarget.select()} />
						<small>Works until {new Date(made?.expires_at ?? 0).toLocaleString()}.</small>
					</label>
					<div class="actions end">
						<Button kind="primary" icon="copy" onClick={() => void copy(url, "the link")}>
							Copy
						</Button>
					</div>
				</>
			)}
		</Dialog>
	);
}
