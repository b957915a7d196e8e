/** What goes on, as the status of the terminal shows it. */
import { expect, it } from "vitest";
import type { ChatTerminal } from "../../src/chat/line/terminal.js";
import { View } from "../../src/chat/view/view.js";
import { atEnd } from "../support/dirs.js";

function recorded(): { readonly view: View; readonly log: string[] } {
	const log: string[] = [];
	const terminal: ChatTerminal = {
		look: { columns: 80, colour: false },
		person: true,
		print: (lines) => void log.push(...lines.map((line) => `print ${line}`)),
		status: (text) => void log.push(`status ${text}`),
		ask: () => Promise.resolve(undefined),
		putBack: () => {},
		close: () => {},
	};
	const view = new View(terminal, { quiet: false, warn: () => {}, platform: "chat", raw: false });
	atEnd(() => view.close());
	return { view, log };
}

it("a call that tells only how long it runs keeps its command in view; what else it tells takes its place", () => {
	const { view, log } = recorded();
	view.show({ type: "call", id: "c1", name: "terminal", args: '{"command":"make"}' });
	expect(log.at(-1)).toBe("status $ make · Esc interrupts");
	const before = log.length;
	view.show({ type: "progress", id: "c1", text: "it runs for 2 s" });
	expect(log.slice(before)).toEqual([]);
	view.show({ type: "progress", id: "c1", text: "the image is pulled: 12 MB" });
	expect(log.at(-1)).toBe("status the image is pulled: 12 MB · Esc interrupts");
	view.show({ type: "call", id: "c2", name: "terminal", args: JSON.stringify({ command: `echo ${"long ".repeat(40)}` }) });
	expect(log.at(-1)).toMatch(/^status \$ echo long .{40,60}… · Esc interrupts$/);
});

it("says that the conversation is made shorter only while it is, in a turn and between turns", () => {
	const { view, log } = recorded();
	view.show({ type: "compacting", done: false });
	expect(log.at(-1)).toBe("status making the conversation shorter · Esc interrupts");
	view.show({ type: "compacting", done: true });
	expect(log.at(-1)).toBe("status undefined");
	view.show({ type: "asking", model: "m", step: 1 });
	view.show({ type: "compacting", done: false });
	view.show({ type: "compacting", done: true });
	expect(log.at(-1)).toBe("status thinking · Esc interrupts");
});

it("says that tokens are estimated where the endpoint does not count them", () => {
	const { view, log } = recorded();
	view.show({ type: "end", why: "answered", text: "", usage: { input: 12_300, output: 40, estimated: true } });
	view.show({ type: "end", why: "answered", text: "", usage: { input: 12_300, output: 40, cached: 10_000, cost: 0.02 } });
	const said = log.filter((line) => line.includes("tokens"));
	expect(said).toEqual(["print about 12.3k tokens in, 40 out", "print 12.3k tokens in (10.0k cached), 40 out · $0.0200"]);
});

it("is at work from the moment at which a message is heard, so that no prompt comes between it and the answer", () => {
	const { view, log } = recorded();
	view.show({ type: "entry", n: 1, entry: { t: "user", id: "m1", text: "hello", by: { platform: "chat", person: "jo" } } });
	expect(log).toEqual(["status thinking · Esc interrupts", "print › hello"]);
	view.show({ type: "entry", n: 2, entry: { t: "stopped", why: "interrupted", text: "Stopped." } }); // by another program
	view.waiting([]);
	expect(log.at(-1)).toBe("status undefined");
});
