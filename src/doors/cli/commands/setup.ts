import os from "node:os";
import { fromSystem, HoldfastError } from "../../../base/index.js";
import type { Change, McpClient, Server } from "../../setup/index.js";
import { agrees, canAsk } from "../ask.js";
import { type CliCall, type CommandBody, EXIT } from "../command.js";
import { chosen } from "../open.js";
import type { Output } from "../output.js";

export const setup: CommandBody = {
	name: "setup",
	usage: "[CLIENT …] [--remove] [--dry-run] [--yes]",
	options: {
		yes: { type: "boolean", short: "y", help: "write without asking" },
		"dry-run": { type: "boolean", help: "show what would change, and leave it" },
		remove: { type: "boolean", help: "take the entry out again" },
		task: { type: "string", value: "NAME", help: "the agents share this task (default: each client has one of its own in each directory)" },
	},
	teach: `
Clients: claude-code, claude-desktop, cursor, vscode, codex, gemini, opencode. Without names: those found on this machine.
A client that is named gets its file even if there is no sign of it.

Shows the change in each configuration, asks, and writes it. Only the entry "holdfast" changes; the file as it was stays
beside it as FILE.holdfast-backup-TIME. The entry starts \`holdfast mcp\`, with --task, --home and --place if given (--home also
if HOLDFAST_HOME is set); for clients of the desktop by its path. Codex and Gemini CLI get a time limit above ours.
In what is shown, values of other settings are "…".

Exit code: 0 when everything is as asked for, 1 when something shown was not written, could not be, or no client was found.

Examples
  holdfast setup
  holdfast setup codex cursor --yes
  holdfast setup --task my-project --dry-run
  holdfast setup --place local+sandbox
  holdfast setup --remove`,
	async run(call) {
		const { CLIENTS, locate, serverCommand } = await import("../../setup/index.js");
		const { values, out } = call;
		const named = namedClients(CLIENTS, call.words);
		const options = checked(values);
		const server = serverCommand(process.env, options);
		const byPath = serverCommand(process.env, options, { byPath: true });
		const results: Result[] = [];
		for (const client of named ?? CLIENTS) {
			const { file, found } = locate(client, process.env);
			const result = found || named ? await settle(call, client, file, client.desktop ? byPath : server) : null;
			results.push({ client: client.id, name: client.name, file, found, ...(result ?? { status: "not_found" }) });
		}
		if (out.json) out.data({ server, dry_run: values["dry-run"] === true, clients: results.map(asJson) });
		else sumUp(out, results);
		return results.every(isSettled) && results.some(({ status }) => status !== "not_found") ? EXIT.ok : EXIT.failed;
	},
};

type Outcome =
	| { readonly status: "written"; readonly change: Change; readonly backup: string | null }
	| { readonly status: "unchanged" | "dry_run" | "declined" | "not_asked"; readonly change: Change }
	| { readonly status: "error"; readonly error: HoldfastError }
	| { readonly status: "not_found" };

type Result = Outcome & { readonly client: string; readonly name: string; readonly file: string; readonly found: boolean };

const isSettled = ({ status }: Result): boolean => !["declined", "not_asked", "error"].includes(status);

function namedClients(clients: readonly McpClient[], words: readonly string[]): readonly McpClient[] | undefined {
	const unknown = words.find((word) => !clients.some(({ id }) => id === word));
	if (unknown !== undefined) throw new HoldfastError("INVALID", `there is no client "${unknown}"; there are: ${clients.map(({ id }) => id).join(", ")}`);
	return words.length === 0 ? undefined : clients.filter(({ id }) => words.includes(id));
}

function checked(values: CliCall["values"]): ReturnType<typeof chosen> {
	const { task, home } = values;
	if (task === "" || String(task ?? "").length > 1000) throw new HoldfastError("INVALID", "--task takes a name of 1 to 1000 characters");
	if (home === "") throw new HoldfastError("INVALID", "--home takes a directory");
	return chosen(values);
}

/** Sets up one client, from a look at its file to the new one. A failure concerns this client alone. */
async function settle(call: CliCall, client: McpClient, file: string, server: Server): Promise<Outcome> {
	const { planChange, replaceConfig } = await import("../../setup/index.js");
	const { values, out } = call;
	try {
		const change = planChange(client, file, values.remove ? undefined : client.entry(server));
		if (!out.json) show(out, client, file, change, values.remove === true);
		if (change.kind === "none") return { status: "unchanged", change };
		if (values["dry-run"]) return { status: "dry_run", change };
		if (!values.yes && (out.json || !canAsk())) return { status: "not_asked", change };
		if (!values.yes && !(await agrees("Write this? [y/N] "))) return { status: "declined", change };
		const backup = replaceConfig(change.config, change.text);
		if (!out.json) out.line(`${out.style("green", "written")}${backup ? `; as it was: ${tilde(backup)}` : ""}`);
		return { status: "written", change, backup };
	} catch (cause) {
		const error = fromSystem(cause, `cannot set up ${client.name}`);
		if (!out.json) out.note(`${client.name}: ${error.message}`);
		return { status: "error", error };
	}
}

function show(out: Output, client: McpClient, file: string, change: Change, remove: boolean): void {
	const state = change.kind !== "none" ? "" : remove ? ": has no entry for Holdfast" : ": already set up";
	out.line(`${out.style("bold", client.name)}  ${tilde(file)}${state}${change.kind === "none" || change.config.bytes ? "" : " (new)"}`);
	for (const line of change.diff) {
		const colour = { "+": "green", "-": "red", "@": "cyan" }[line[0] as string] as "green" | undefined;
		out.line(`  ${colour ? out.style(colour, line) : line}`);
	}
	if (change.note) out.note(`${client.name}: ${change.note}`);
}

function sumUp(out: Output, results: readonly Result[]): void {
	const names = (status: Result["status"]): string =>
		results
			.filter((result) => result.status === status)
			.map(({ name }) => name)
			.join(", ");
	const missing = results.filter(({ status }) => status === "not_found");
	if (missing.length > 0) out.line(out.style("dim", `not found: ${missing.map(({ client }) => client).join(", ")}`));
	if (missing.length === results.length) out.note("no client was found on this machine; name one to set it up all the same, such as: holdfast setup codex");
	if (names("not_asked")) out.note("nothing was written, because there is no terminal to ask at; --yes writes without asking");
	if (names("declined")) out.note(`not written: ${names("declined")}`);
	if (names("written")) out.note(`restart these if they are running: ${names("written")}`);
}

function asJson(result: Result): Record<string, unknown> {
	const { client, name, file, found, status } = result;
	const change = "change" in result ? result.change : undefined;
	return {
		client,
		name,
		file,
		found,
		status,
		change: change && change.kind !== "none" ? change.kind : null,
		diff: change?.diff ?? [],
		backup: "backup" in result ? result.backup : null,
		note: change?.note ?? null,
		error: "error" in result ? { code: result.error.code, message: result.error.message } : null,
	};
}

const tilde = (file: string): string => (file.startsWith(`${os.homedir()}/`) ? `~${file.slice(os.homedir().length)}` : file);
