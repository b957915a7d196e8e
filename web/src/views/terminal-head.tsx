/** What it is, how it is, and what can be done with it. */
import { useState } from "preact/hooks";
import type { ProcessDetail, ProcessItem } from "../../../src/doors/http/schemas.js";
import { now } from "../state/clock.js";
import { isRunning, nameOf } from "../state/processes.js";
import { go, href } from "../state/route.js";
import { readable, type TerminalView } from "../terminal/view.js";
import { Button } from "../ui/button.js";
import { copy } from "../ui/clipboard.js";
import { duration } from "../ui/format.js";
import { Icon } from "../ui/icon.js";
import { Glyph, StatusWords } from "../ui/status.js";
import { tell } from "../ui/toasts.js";
import { Details } from "./details.js";
import { KillDialog } from "./kill-dialog.js";
import { secondsOf } from "./list-row.js";
import { ShareDialog } from "./share-dialog.js";

interface Props {
	readonly detail: ProcessDetail;
	readonly process: ProcessItem;
	readonly view: TerminalView | undefined;
	readonly owner: boolean;
	readonly searching: boolean;
	readonly onSearch: () => void;
}

export function TerminalHead({ detail, process, view, owner, searching, onSearch }: Props) {
	const [open, setOpen] = useState<"details" | "kill" | "share">();
	const close = () => setOpen(undefined);
	const id = process.session_id;
	return (
		<header class="term-head">
			{owner && (
				<a class="button bare icon only-phone" href={href([])} aria-label="Back to the list">
					<Icon name="back" />
				</a>
			)}
			<div class="term-what">
				<Glyph process={process} />
				<h1 class="mono" title={process.command}>
					{nameOf(process)}
				</h1>
				<StatusWords process={process} />
				<span class="quiet num">{duration(secondsOf(process, now.value))}</span>
				{view?.live.title.value && <span class="term-title quiet">{view.live.title.value}</span>}
			</div>
			<div class="term-tools" role="toolbar" aria-label="What can be done with this terminal">
				<Button
					icon="info"
					label="Details: command, directory, times"
					kind="bare"
					pressed={open === "details"}
					onClick={() => setOpen(open ? undefined : "details")}
				/>
				<Button icon="search" label="Search in the output" kind="bare" pressed={searching} onClick={onSearch} />
				<Button icon="up" label="Older output" kind="bare" onClick={() => view && tell(view.showHistory())} />
				<Button icon="copy" label="Copy what is selected, or the screen" kind="bare" onClick={() => view && void copyFrom(view)} />
				{process.pty && <Button icon="play" label="Play the recording" kind="bare" onClick={() => go(["p", id, "recording"])} />}
				{owner && <Button icon="files" label="Files in its directory" kind="bare" onClick={() => go(["files"], { session_id: id })} />}
				{owner && <Button icon="link" label="A link for somebody who may only look" kind="bare" onClick={() => setOpen("share")} />}
				{owner && isRunning(process) && (
					<Button icon="stop" label="End it, with everything it has started" kind="danger" onClick={() => setOpen("kill")}>
						Kill
					</Button>
				)}
			</div>
			{open === "details" && <Details detail={detail} process={process} onReadable={toggleReadable} />}
			{open === "kill" && <KillDialog process={process} onClose={close} />}
			{open === "share" && <ShareDialog id={id} onClose={close} />}
		</header>
	);
}

function toggleReadable(): void {
	readable.value = readable.value === "yes" ? "no" : "yes";
}

async function copyFrom({ shown: { terminal } }: TerminalView): Promise<void> {
	if (terminal.hasSelection()) return copy(terminal.getSelection(), "what is selected");
	const { active } = terminal.buffer;
	const rows = Array.from({ length: terminal.rows }, (_, row) => active.getLine(active.viewportY + row)?.translateToString(true) ?? "");
	await copy(rows.join("\n").trimEnd(), "the screen");
}
