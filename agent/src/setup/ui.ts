/** The questions of the wizard, in the terminal. Esc goes back a step, Ctrl-C leaves. */
import * as clack from "@clack/prompts";
import { lookOf, visible, wrapText } from "../chat/index.js";

/** The person goes back a step, wants to be asked this one again, or leaves. */
export class Back extends Error {
	override readonly name = "Back";
	constructor(readonly to: "before" | "again" | "out") {
		super(to);
	}
}

let lastKey = "";

/** The prompts do not tell Esc from Ctrl-C. */
export function watchKeys(): void {
	process.stdin.on("keypress", (_, key: { name?: string; ctrl?: boolean } | undefined) => {
		lastKey = `${key?.ctrl ? "ctrl+" : ""}${key?.name ?? ""}`;
	});
}

function given<T>(answer: T): Exclude<T, symbol> {
	if (clack.isCancel(answer)) throw new Back(lastKey === "ctrl+c" ? "out" : "before");
	return answer as Exclude<T, symbol>;
}

export interface Choice<T> {
	readonly value: T;
	readonly label: string;
	readonly hint?: string;
	readonly disabled?: boolean;
}

const options = <T>(choices: readonly Choice<T>[]): clack.Option<T>[] => choices.map((choice) => ({ ...choice }) as clack.Option<T>);

export const select = async <T>(message: string, choices: readonly Choice<T>[], initialValue?: T): Promise<T> =>
	given<unknown>(
		await clack.select<T>({ message, options: options(choices), ...(initialValue === undefined ? {} : { initialValue }), showInstructions: false }),
	) as T;

export const multiselect = async <T>(message: string, choices: readonly Choice<T>[], initialValues: T[]): Promise<T[]> =>
	given(await clack.multiselect<T>({ message, options: options(choices), initialValues, required: true }));

/** Typing filters; what is typed can be taken as it is. */
export const filter = async (message: string, choices: readonly Choice<string>[], initialValue?: string): Promise<string> => {
	const shown = options(choices);
	return given(
		await clack.autocomplete<string>({
			message,
			maxItems: 10,
			placeholder: "filter, or another name",
			...(initialValue !== undefined && choices.some(({ value }) => value === initialValue) ? { initialValue } : {}),
			options() {
				const typed = this.userInput.trim();
				const found = shown.filter((one) => `${one.value} ${one.hint ?? ""}`.toLowerCase().includes(typed.toLowerCase()));
				const exact = typed === "" || shown.some(({ value }) => value === typed);
				return exact ? found : [...found, { value: typed, label: typed, hint: "as typed" } as clack.Option<string>];
			},
			filter: () => true,
		}),
	);
};

export const text = async (
	message: string,
	more: { placeholder?: string; initialValue?: string; validate?: (value: string) => string | undefined },
): Promise<string> => given(await clack.text({ message, ...more, validate: (value) => more.validate?.(value ?? "") })).trim();

export const hidden = async (message: string): Promise<string> =>
	given(await clack.password({ message, mask: "•", validate: (value) => (value?.trim() ? undefined : "nothing was typed; Esc goes back") })).trim();

export const confirm = async (message: string, initialValue = true): Promise<boolean> => given(await clack.confirm({ message, initialValue }));

/** Does something that takes a moment; `said` is shown behind it. */
export async function during<T>(message: string, work: () => Promise<T>): Promise<T> {
	const spinner = clack.spinner({ indicator: "timer" });
	spinner.start(message);
	try {
		const result = await work();
		spinner.clear();
		return result;
	} catch (error) {
		spinner.clear();
		throw error;
	}
}

export const good = (words: string): void => clack.log.success(fitted(words));
export const bad = (words: string): void => clack.log.error(fitted(words));
export const info = (words: string): void => clack.log.info(fitted(words));
export const note = (words: string, title: string): void => clack.note(words, title);
export const intro = (words: string): void => clack.intro(words);
export const outro = (words: string): void => clack.outro(words);

const GUIDE = 3; // columns of the line at the left

/** Broken between words: the prompts are, what is said between them is not. */
const fitted = (words: string): string => {
	const look = lookOf(process.stdout);
	return visible(words)
		.split("\n")
		.flatMap((line) => wrapText(line, { ...look, columns: look.columns - GUIDE }))
		.join("\n");
};

/** Esc in a later question of a step asks the step again. */
export async function orAgain<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		throw error instanceof Back && error.to === "before" ? new Back("again") : error;
	}
}

/** Says what is wrong, or `perhaps` is; goes on only if the person insists, else asks the step again. */
export async function insist(words: string, question: string, { perhaps = false } = {}): Promise<void> {
	if (perhaps) info(words);
	else bad(words);
	if (!(await confirm(question, perhaps))) throw new Back("again");
}
