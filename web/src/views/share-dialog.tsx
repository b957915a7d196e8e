/** A link for somebody who may look at this one terminal, and for how long. */
import { useState } from "preact/hooks";
import type { ViewerLink } from "../../../src/doors/http/schemas.js";
import { viewerLink } from "../api/calls.js";
import { Button } from "../ui/button.js";
import { copy } from "../ui/clipboard.js";
import { Dialog } from "../ui/dialog.js";
import { tell } from "../ui/toasts.js";

const LASTS = { "an hour": 3_600, "a day": 86_400, "a week": 604_800 } as const;

export function ShareDialog({ id, onClose }: { id: string; onClose: () => void }) {
	const [seconds, setSeconds] = useState<number>(LASTS["an hour"]);
	const [made, setMade] = useState<ViewerLink>();
	const url = made && new URL(made.url, location.href).href;
	return (
		<Dialog title="A link to look, not to touch" onClose={onClose}>
			{url === undefined ? (
				<>
					<p>Whoever opens it sees this one terminal, live, and can do nothing to it.</p>
					<label class="field">
						<span>It works for</span>
						<select class="input" value={seconds} onChange={(event) => setSeconds(Number(event.currentTarget.value))}>
							{Object.entries(LASTS).map(([word, value]) => (
								<option key={word} value={value}>
									{word}
								</option>
							))}
						</select>
					</label>
					<div class="actions end">
						<Button kind="primary" icon="link" onClick={() => tell(viewerLink(id, seconds).then(setMade))}>
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
