import type { Found } from "./found.js";

/** "-f|--force": any of these, `-f` also within `-rf`, `--force` also with a value. */
export function hasFlag(command: Pick<Found, "args">, flag: string): boolean {
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
