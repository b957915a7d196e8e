/** `holdfast serve --install` and `--uninstall`: what they do and say. */
import path from "node:path";
import { HoldfastError, ownHome } from "../../base/index.js";
import type { CliCall, Values } from "./command.js";
import { installUnit, UNIT, uninstallUnit, unitText } from "./unit.js";

/** Prints or installs the unit, with the other options of the call in it. */
export function install(call: CliCall): void {
	const { out, values } = call;
	const text = unitText(wordsOf(values));
	if (values.print) {
		if (out.json) out.data({ unit: text });
		else process.stdout.write(text);
		return;
	}
	const { file, changed } = installUnit(text);
	const enable = `systemctl --user ${changed ? "daemon-reload && systemctl --user " : ""}enable --now ${UNIT}`;
	const log = `journalctl --user --unit ${UNIT} --follow`;
	if (out.json) {
		out.data({ file, changed, enable, log });
		return;
	}
	out.line(`${changed ? "Wrote" : "Nothing to change in"} ${file}. Start it now and at every login:

  ${out.style("bold", enable)}

and see what it says, the link included:

  ${out.style("bold", log)}

To run while you are not logged in, and from boot on: loginctl enable-linger
Stopping or restarting it leaves what runs running.`);
}

export function uninstall({ out }: CliCall): void {
	const file = uninstallUnit();
	if (file === undefined) throw new HoldfastError("NOT_FOUND", "no unit of `holdfast serve --install` is there; nothing was done");
	const stop = `systemctl --user stop ${UNIT}; systemctl --user daemon-reload`;
	if (out.json) out.data({ file, stop });
	else out.line(`Removed ${file}: it starts no more. If it runs now, stop it; what it keeps runs on:\n\n  ${out.style("bold", stop)}`);
}

/** The options with which the service is to run; paths do not depend on where it is started. */
function wordsOf(values: Values): string[] {
	const paths = { home: typeof values.home === "string" && values.home !== "" ? values.home : ownHome(), "token-file": values["token-file"] };
	const texts = { host: values.host, port: values.port, task: values.task, place: values.place };
	const option = ([name, value]: [string, unknown]) => (typeof value === "string" ? [`--${name}`, value] : []);
	return [
		...Object.entries(texts).flatMap(option),
		...(values["any-port"] === true ? ["--any-port"] : []),
		...["public-url", "preview-url"].flatMap((name) => ((values[name] ?? []) as string[]).flatMap((url) => [`--${name}`, url])),
		...Object.entries(paths).flatMap(([name, value]) => (typeof value === "string" ? option([name, path.resolve(value)]) : [])),
	];
}
