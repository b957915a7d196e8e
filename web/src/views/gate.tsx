/** The page for a visitor who is not signed in. */
import { useState } from "preact/hooks";
import { login } from "../api/calls.js";
import { keepKey } from "../api/credentials.js";
import { refusal, start } from "../state/start.js";
import { Button } from "../ui/button.js";
import { messageOf } from "../ui/said.js";
import { Sentence } from "../ui/sentence.js";

export function Gate() {
	const [error, setError] = useState("");
	const enter = async (text: string) => {
		try {
			keepKey((await login(text.trim().replace(/^.*#token=/, ""))).key);
			refusal.value = "";
			await start();
		} catch (failure) {
			setError(messageOf(failure));
		}
	};
	return (
		<main class="gate" id="main">
			<section class="said">
				<h1>Holdfast does not know this browser</h1>
				{refusal.value && <p class="quiet">{refusal.value}</p>}
				<p>Open the link that this prints in a terminal on the machine where the server runs:</p>
				<pre>holdfast serve --link</pre>
				<form
					class="form"
					onSubmit={(event) => {
						event.preventDefault();
						void enter(String(new FormData(event.currentTarget).get("token")));
					}}
				>
					<label class="field">
						<span>Or paste the link here</span>
						<input name="token" class="input mono" type="password" autocomplete="off" required />
					</label>
					{error && (
						<p class="error" role="alert">
							<Sentence text={error} />
						</p>
					)}
					<Button kind="primary" submit>
						Sign in
					</Button>
				</form>
			</section>
		</main>
	);
}
