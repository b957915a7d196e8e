/** A new conversation: the first message, and where it works with which model. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../ui/icon.js";
import { shownText } from "../ui/text.js";
import { draftOf, setDraft } from "./composer.js";
import { useAround } from "./context.js";

export function Begin({ onBegun }: { onBegun: (id: string) => void }) {
	const { host, store } = useAround();
	const form = useRef<HTMLFormElement>(null);
	const [busy, setBusy] = useState(false);
	const [problem, setProblem] = useState("");
	const settings = store.settings.value;
	const text = draftOf("new");
	useEffect(() => {
		store.loadSettings().catch((error: Error) => setProblem(error.message));
		form.current?.querySelector("textarea")?.focus();
	}, []);
	const begin = async () => {
		if (text.trim() === "" || busy || !form.current) return;
		const data = new FormData(form.current);
		const value = (name: string) => String(data.get(name) ?? "").trim() || undefined;
		setBusy(true);
		setProblem("");
		try {
			const id = await store.begin({ text, model: value("model"), place: value("place"), cwd: value("cwd") });
			setDraft("new", "");
			onBegun(id);
		} catch (error) {
			setProblem((error as Error).message);
			setBusy(false);
		}
	};
	return (
		<>
			<header class="ag-head">
				<a class="button bare icon ag-back" href={host.href([])} aria-label="Back to the list">
					<Icon name="back" />
				</a>
				<div class="ag-what">
					<h1>New conversation</h1>
				</div>
			</header>
			<form
				ref={form}
				class="ag-begin"
				onSubmit={(event) => {
					event.preventDefault();
					void begin();
				}}
			>
				{settings?.problem && (
					<p class="ag-cut" role="alert">
						{shownText(settings.problem)}
					</p>
				)}
				<label class="field">
					<span>What is to be done?</span>
					<textarea
						class="input"
						rows={5}
						value={text}
						enterkeyhint="send"
						onInput={(event) => setDraft("new", event.currentTarget.value)}
						onKeyDown={(event) => {
							if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
							event.preventDefault();
							void begin();
						}}
					/>
				</label>
				<div class="ag-choices">
					<label class="field">
						<span>Model</span>
						<input name="model" class="input" list="ag-models" autocomplete="off" placeholder={settings?.model ?? "as the endpoint names it"} />
						<small>{settings?.endpoint ? `of ${settings.endpoint}` : " "}</small>
					</label>
					<label class="field">
						<span>Place</span>
						<input name="place" class="input" autocomplete="off" placeholder={settings?.place ?? "local"} />
						<small>local, local+sandbox, docker://…, ssh://…, or a name</small>
					</label>
					<label class="field">
						<span>Directory</span>
						<input name="cwd" class="input mono" autocomplete="off" placeholder={settings?.cwd ?? ""} />
						<small>where its shell starts</small>
					</label>
				</div>
				<datalist id="ag-models">
					{settings?.models.map((name) => (
						<option key={name} value={name} />
					))}
				</datalist>
				{problem && (
					<p class="error" role="alert">
						{shownText(problem)}
					</p>
				)}
				<div class="actions">
					<button type="submit" class="button primary" disabled={busy || text.trim() === ""}>
						<Icon name="send" />
						{busy ? "Begins …" : "Begin"}
					</button>
				</div>
			</form>
		</>
	);
}
