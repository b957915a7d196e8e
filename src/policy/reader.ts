/** The reader of a page of shell text: it receives the commands that the page finds. */
import type { Flow, Span } from "./flow.js";
import type { FoundCommand, Trait } from "./found.js";
import type { Scope } from "./scope.js";
import type { Word } from "./word.js";

/** Receives the commands that were found. A command that runs shell text leads to further pages. */
export interface Reader {
	/** All of a text that stands in this one. */
	script(text: string, scope: Scope, at: Span | null, flow?: Flow): FoundCommand[];
	/** Reads one simple command, and what it runs in turn. Returns the commands that print what it prints. */
	run(argv: readonly Word[], at: Span, scope: Scope, flow: Flow): FoundCommand[];
	/** False: it has been enough. */
	goesOn(at: Span, scope: Scope): boolean;
	mark(trait: Trait, at: Span, scope: Scope): FoundCommand;
}
