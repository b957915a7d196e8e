/** The messages to the page of a run. */
export type EpisodeState = "waits" | "open" | "gone" | "solved" | "part" | "failed" | "recorded" | "error";

export interface EpisodeCell {
	readonly index: number;
	readonly key: string;
	readonly digest: string;
	readonly repeat: number;
	readonly state: EpisodeState;
	readonly reward: number | null;
	/** How it ended, for people. */
	readonly words: string;
	readonly attempts: number;
	readonly seconds: number | null;
	readonly tokens: number | null;
	/** How often a person took the keyboard. */
	readonly touched: number;
}

export interface RunView {
	/** Another one means that something has changed. */
	readonly version: string;
	readonly name: string;
	readonly facts: readonly string[];
	readonly cells: readonly EpisodeCell[];
	readonly done: number;
	/** Numbers with their names. */
	readonly numbers: readonly (readonly [name: string, value: string])[];
	/** The program that runs it. */
	readonly runner: number | null;
	readonly paused: boolean;
	/** The findings of the last look at what is left; null: the run is not over. */
	readonly proof: readonly string[] | null;
	readonly clean: boolean;
}

/** Times are milliseconds since the attempt began. */
export interface StepView {
	readonly at: number;
	readonly kind: "said" | "answer" | "result" | "note";
	readonly text: string;
	readonly calls: readonly { readonly name: string; readonly args: string }[];
	readonly failed: boolean;
}

export interface CommandView {
	readonly id: string;
	readonly command: string;
	readonly from: number;
	/** Null: it runs. */
	readonly to: number | null;
	readonly exit: number | null;
	readonly status: string;
	readonly pty: boolean;
	/** The last of what it printed. */
	readonly output: string;
	readonly bytes: number;
}

export interface EpisodeView {
	readonly cell: EpisodeCell;
	/** Which attempt this is, of how many. */
	readonly attempt: number;
	readonly task: string;
	readonly place: string;
	readonly began: string | null;
	/** Milliseconds from its beginning to its end, or to now. */
	readonly length: number;
	readonly steps: readonly StepView[];
	readonly commands: readonly CommandView[];
	/** A command that runs now. */
	readonly live: string | null;
	/** Small text files that it left: what the tests printed, the proof. */
	readonly files: readonly { readonly name: string; readonly text: string; readonly cut: boolean }[];
}
