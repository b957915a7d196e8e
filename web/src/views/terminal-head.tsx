/** The head of a terminal: its name, its state, and its actions. */
import { useState } from "preact/hooks";
import type { ProcessItem } from "../../../src/doors/http/schemas.js";
import { now } from "../state/clock.js";
import { isRunning, nameOf } from "../state/processes.js";
import { go, href } from "../state/route.js";
import type { TerminalView } from "../terminal/view.js";
import { Button } from "../ui/button.js";
import { copy } from "../ui/clipboard.js";
import { duration } from "../ui/format.js";
import { Icon } from "../ui/icon.js";
import { Glyph, StatusWords } from "../ui/status.js";
import { tell } from "../ui/toasts.js";
import { useRoving } from "../ui/use-roving.js";
import { KillDialog } from "./kill-dialog.js";
import { secondsOf } from "./list-row.js";
import { PortLinks } from "./ports.js";
import { ShareDialog } from "./share-dialog.js";

interface Props {
	readonly process: ProcessItem;
	readonly view: TerminalView | undefined;
	readonly owner: boolean;
	readonly onLeave: (() => void) | undefined;
	readonly searching: boolean;
	readonly onSearch: () => void;
	readonly details: boolean;
	readonly onDetails: () => void;
}

export function TerminalHead({ process, view, owner, onLeave, searching, onSearch, details, onDetails }: Props) {
	const [open, setOpen] = useState<"kill" | "share">();
	const tools = useRoving<HTMLDivElement>("button");
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
				<span class="term-state">
					<StatusWords process={process} /> <span class="quiet num">{duration(secondsOf(process, now.value))}</span>
				</span>
				{view?.live.title.value && <span class="term-title quiet">{view.live.title.value}</span>}
			</div>
			{owner && isRunning(process) && <PortLinks process={process} />}
			<div ref={tools} class="term-tools" role="toolbar" aria-label="What can be done with this terminal">
				<Button icon="info" label="Details: command, directory, times" kind="bare" pressed={details} onClick={onDetails} />
				<Button icon="search" label="Search in the output" kind="bare" pressed={searching} onClick={onSearch} />
				{!onLeave && <Button icon="up" label="Older output" kind="bare" onClick={() => view && tell(view.showHistory())} />}
				{!onLeave && <Button icon="copy" label="Copy what is selected, or the screen" kind="bare" onClick={() => view && void copyFrom(view)} />}
				{process.pty && !onLeave && <Button icon="play" label="Play the recording" kind="bare" onClick={() => go(["p", id, "recording"])} />}
				{owner && !onLeave && <Button icon="files" label="Files in its directory" kind="bare" onClick={() => go(["files"], { session_id: id })} />}
				{owner && !onLeave && <Button icon="link" label="Share a link to this terminal" kind="bare" onClick={() => setOpen("share")} />}
				{owner && isRunning(process) && (
					<Button icon="stop" label="End it, with everything it has started" kind="danger" onClick={() => setOpen("kill")}>
						Kill
					</Button>
				)}
				{onLeave && <Button icon="close" label="Take it out of the row" kind="bare" onClick={onLeave} />}
			</div>
			{open === "kill" && <KillDialog process={process} onClose={close} />}
			{open === "share" && <ShareDialog id={id} onClose={close} />}
		</header>
	);
}

async function copyFrom({ shown: { terminal } }: TerminalView): Promise<void> {
	if (terminal.hasSelection()) return copy(terminal.getSelection(), "what is selected");
	const { active } = terminal.buffer;
	const rows = Array.from({ length: terminal.rows }, (_, row) => active.getLine(active.viewportY + row)?.translateToString(true) ?? "");
	await copy(rows.join("\n").trimEnd(), "the screen");
}
