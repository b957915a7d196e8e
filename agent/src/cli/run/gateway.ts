/** `gateway`: in the foreground; `gateway install`: as a service; `gateway status`: how it is. */
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { AgentError, KeyRing } from "../../base/index.js";
import {
	enableUnit,
	Gateway,
	type GatewayStatus,
	gatewayHealth,
	installedUnit,
	notifyReady,
	openPlatforms,
	serveMetrics,
	TakenError,
	UNIT,
	unitFile,
	unitText,
	writeUnit,
} from "../../gateway/index.js";
import type { Output } from "../output.js";
import { settingsOf } from "../settings.js";
import type { Call } from "../table.js";

/** EX_CONFIG: systemd does not start it again. */
const TAKEN = 78;

export async function run(call: Call): Promise<number> {
	const [what = "run"] = call.words;
	if (what === "run") return foreground(call);
	if (what === "install") return install(call);
	if (what === "status") return status(call);
	throw new AgentError("INVALID", `there is no "gateway ${what}"; there are gateway, gateway install and gateway status`);
}

async function foreground(call: Call): Promise<number> {
	const { out } = call;
	const settings = settingsOf(call);
	const keys = new KeyRing(settings.home);
	const report = (text: string): void => out.note(`${new Date().toISOString()} ${text}`);
	// From the start: it may be told to stop before it is connected.
	const stopped = new Promise<"stopped">((resolve) => {
		for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => resolve("stopped"));
	});
	let gateway: Gateway;
	try {
		gateway = await Gateway.start({ settings, keys, platforms: await openPlatforms(settings, keys), report });
	} catch (error) {
		if (!(error instanceof TakenError)) throw error;
		out.error(error);
		return TAKEN;
	}
	const { metricsPort } = settings.config.gateway;
	const metrics =
		metricsPort === undefined
			? undefined
			: await serveMetrics(gateway, metricsPort).catch((error: Error) => {
					report(`The gateway runs without counters (${error.message}); set another gateway.metricsPort in agent.json.`);
					return undefined;
				});
	const names = gateway.status.platforms.map(({ name }) => name).join(", ");
	report(`The gateway runs on ${names}${metrics ? `; ${metrics.url}/metrics` : ""}. Ctrl-C stops it, and ends nothing that it has started.`);
	const problem = await notifyReady(`on ${names}`);
	if (problem !== undefined) report(problem);
	const why = await Promise.race([stopped, gateway.ended().then(() => "no platform" as const)]);
	await metrics?.close();
	await gateway.stop();
	if (why === "stopped") return 0;
	out.note("No platform is left; what each said is above.");
	return TAKEN;
}

async function install(call: Call): Promise<number> {
	const { out, values } = call;
	const { config, home } = settingsOf(call);
	if (Object.keys(config.gateway.platforms).length === 0) throw new AgentError("CONFIG", "no platform is set up; run `holdfast-agent setup platform` first");
	const env = Object.fromEntries(
		["HOLDFAST_AGENT_HOME", "HOLDFAST_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "PATH"].flatMap((name) =>
			process.env[name] ? [[name, process.env[name]]] : [],
		),
	);
	const command = [process.execPath, fileURLToPath(new URL("../main.js", import.meta.url))];
	const text = unitText({ command, cwd: process.env.HOME || home.root, env });
	const file = unitFile();
	out.line(`# ${file}`);
	out.line(text);
	if (installedUnit() === text) out.note("It is there already, as it is shown.");
	if (values.yes !== true) {
		if (!process.stdin.isTTY) throw new AgentError("INVALID", "nothing was written, since nobody can be asked; --yes writes it");
		const ask = createInterface({ input: process.stdin, output: process.stderr });
		const answer = await ask.question("Write it, and start it now? [y/N] ").finally(() => ask.close());
		if (!/^y(es)?$/i.test(answer.trim())) {
			out.note("Nothing was written.");
			return 1;
		}
	}
	writeUnit(text, file);
	out.note(`Written. \`loginctl enable-linger\` lets it run while you are not logged in.`);
	if (values["no-start"] !== true) {
		await enableUnit();
		out.note(`It runs: systemctl --user status ${UNIT}, journalctl --user -u ${UNIT}`);
	}
	return 0;
}

function status({ out }: Call): number {
	const { home } = settingsOf({ values: {}, words: [], out });
	const { running, status: last } = gatewayHealth(home);
	if (out.json) out.data({ running, ...last });
	else if (last) describe(out, running, last);
	else out.line("No gateway has run here yet.");
	return running ? 0 : 1;
}

function describe(out: Output, running: boolean, { pid, platforms, chats, counters, problems, at }: GatewayStatus): void {
	out.line(running ? `It runs (pid ${pid}).` : `It does not run; this is from ${at}.`);
	for (const { name, up, why, account, certainty, waiting } of platforms) {
		const state = running && up ? out.style("green", "connected") : out.style("red", running ? "not connected" : "off");
		out.line(`${name}  ${state}${account === undefined ? "" : ` as ${account}`}  ${certainty}  ${waiting} to send${why === undefined ? "" : `  ${why}`}`);
	}
	out.line(`${chats.known} chats, ${chats.open} conversations open`);
	out.line(
		Object.entries(counters)
			.filter(([, value]) => value > 0)
			.map(([name, value]) => `${name} ${value}`)
			.join(" · "),
	);
	for (const { at: when, text } of problems.slice(-5)) out.line(`${when}  ${text}`);
}
