import { HoldfastError, REMOTE_MS } from "../../../base/index.js";
import { listeningOn, type Process, portsOf, runningServer, urlsOf } from "../../../process/index.js";
import { type CliCall, type CommandBody, EXIT } from "../command.js";
import { handleOf, processOf } from "../look.js";

export const preview: CommandBody = {
	name: "preview",
	usage: "[ID] [PORT]",
	options: {},
	teach: `
The browser that opens the link sees what the process serves on that port, wherever it runs: on this machine, in a sandbox or
container, over SSH. Without an ID the process that listens on PORT is looked for; without a PORT it is the only one that the
process listens on. Each preview has a name of its own below localhost (or --preview-url of \`holdfast serve\`), so that it cannot read or set
cookies of the page. The link works for an hour, and the browser that has opened it sees the preview for 12 hours.
\`holdfast serve\` must run on this home. With --json: {session_id, port, url}.

Examples
  holdfast preview 5173
  holdfast preview web
  holdfast preview 3f2a 8080`,
	async run(call) {
		const { process, port } = await chosen(call);
		const runtime = await call.runtime();
		const server = runningServer(runtime.home.root);
		if (!server) throw new HoldfastError("NOT_FOUND", "no `holdfast serve` runs on this home, so nothing can show the port; start one");
		const [http, { mustBePerson }] = await Promise.all([import("../../http/index.js"), import("../../../approvals/index.js")]);
		mustBePerson(runtime.home);
		const label = http.labelOf(process.id, port);
		const bases = http.parsePreviewUrls(server.preview_urls ?? [], "a preview URL");
		// The address for others first, as of other links.
		const origins = [...urlsOf(server), server.origin].map((url) => http.previewOrigin(label, { origin: new URL(url).origin }, bases));
		const origin = origins.find((found) => found !== undefined);
		if (origin === undefined) throw new HoldfastError("UNSUPPORTED", http.NO_NAME);
		const url = http.previewLink(http.readToken(server.token_file), { origin, label });
		if (call.out.json) call.out.data({ session_id: process.id, port, url });
		else {
			call.out.line(url);
			call.out.note(`port ${port} of ${handleOf({ id: process.id, name: process.spec.name })}; the link works for an hour`);
		}
		return EXIT.ok;
	},
};

async function chosen(call: CliCall): Promise<{ process: Process; port: number }> {
	const { words } = call;
	const [first, second, ...more] = words;
	if (first === undefined || more.length > 0) throw new HoldfastError("INVALID", "give a process, a port, or both; `holdfast ps` lists processes");
	if (second !== undefined) {
		const port = portIn(second);
		if (port === undefined) throw new HoldfastError("INVALID", `"${second}" is not a port, which is a number from 1 to 65535`);
		const process = await processOf(call, first);
		return { process, port: (await listeningOn(process, port)).port };
	}
	const port = portIn(first);
	return port === undefined ? onlyPort(await processOf(call, first)) : { process: await listener(call, port), port };
}

const portIn = (word: string): number | undefined => (/^[1-9]\d{0,4}$/.test(word) && Number(word) <= 65_535 ? Number(word) : undefined);

async function onlyPort(process: Process): Promise<{ process: Process; port: number }> {
	const [one, ...more] = await portsOf(process);
	if (!one) throw new HoldfastError("NOT_FOUND", `${process.spec.name ?? process.id} listens on no port`);
	if (more.length > 0)
		throw new HoldfastError(
			"INVALID",
			`${process.spec.name ?? process.id} listens on ${[one, ...more].map(({ port }) => port).join(", ")}; give one of these behind it`,
		);
	return { process, port: one.port };
}

/** The process that listens on a port; of several, on as many machines, none. */
async function listener(call: CliCall, port: number): Promise<Process> {
	const runtime = await call.runtime();
	const task = typeof call.values.task === "string" ? call.values.task : null;
	for (const note of await runtime.sync({ task, shells: true, ms: REMOTE_MS.person })) call.out.remark(note);
	const running = runtime.list({ task, shells: true, ended: false }).filter(({ spec }) => spec.kind !== "sandbox");
	const found = await Promise.all(running.map(async (process) => ((await portsOf(process).catch(() => [])).some((one) => one.port === port) ? [process] : [])));
	const all = found.flat();
	const [one, ...more] = all.filter(({ id }) => !all.some(({ spec }) => spec.within?.shell === id)); // of a shell and its command the command
	if (!one) throw new HoldfastError("NOT_FOUND", `no process that Holdfast keeps listens on port ${port}; \`holdfast ps\` lists them`);
	if (more.length > 0)
		throw new HoldfastError(
			"INVALID",
			`${[one, ...more].map(({ id }) => id).join(", ")} listen on port ${port}; name one of them: holdfast preview ID ${port}`,
		);
	return one;
}
