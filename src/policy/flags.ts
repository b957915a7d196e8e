import type { FoundCommand } from "./found.js";
import type { Word } from "./word.js";

/** "-f|--force": any of these, `-f` also within `-rf`, `--force` also with a value. */
export function hasFlag(command: Pick<FoundCommand, "args">, flag: string): boolean {
	const end = command.args.findIndex(({ text }) => text === "--");
	const args = end === -1 ? command.args : command.args.slice(0, end);
	return flag.split("|").some((one) => {
		const bundle = /^-([a-zA-Z0-9])$/.exec(one)?.[1];
		return args.some(
			({ text }) =>
				text === one || (one.startsWith("--") && text.startsWith(`${one}=`)) || (bundle !== undefined && /^-[a-zA-Z0-9]+$/.test(text) && text.includes(bundle)),
		);
	});
}

export const is = (command: FoundCommand, ...names: string[]): boolean => command.names.some((name) => names.includes(name));

/** The arguments that are no flags. */
export const words = (command: FoundCommand): Word[] => {
	const end = command.args.findIndex(({ text }) => text === "--");
	return command.args.filter(({ text }, at) => (end !== -1 && at > end) || !text.startsWith("-"));
};

/** Whether the words that are no flags are such a line; also without those behind a flag, which may be its value: `kubectl -n prod delete`. */
export function says(command: FoundCommand, pattern: RegExp): boolean {
	const isFlag = (at: number) => command.args[at]?.text.startsWith("-") === true;
	const line = (takes: (at: number) => boolean) =>
		command.args
			.filter((_, at) => takes(at))
			.map(({ text }) => text)
			.join(" ");
	return pattern.test(line((at) => !isFlag(at))) || pattern.test(line((at) => !isFlag(at) && !(isFlag(at - 1) && !command.args[at - 1]?.text.includes("="))));
}
