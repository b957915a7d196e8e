/** Checks that a place can be reached, and asks it to describe itself. */
import { HoldfastError } from "../base/index.js";
import type { Host } from "./host.js";

export interface Description {
	readonly address: string;
	/** Remote `uname -a`, or the closest equivalent. */
	readonly system: string;
	readonly cwd?: string;
	readonly notes: readonly string[];
	/** The available tools among those that commands and shells need. */
	readonly tools: readonly string[];
	readonly missing: readonly string[];
}

const ANSWER_MS = 60_000;
const MOST = 16 * 1024;
const MARK = "holdfast-describes"; // a login may print a greeting first
const TOOLS = ["bash", "setsid", "mkfifo", "dd", "script", "python3", "perl", "rg"];
const SCRIPT = `echo ${MARK}; (uname -a || echo unknown) 2>/dev/null; pwd; for t in ${TOOLS.join(" ")}; do command -v "$t" >/dev/null 2>&1 && echo "$t"; done; echo ${MARK}`;

/** Reaches the place, starting it if needed, and asks. Throws what is wrong, in words. A start has limits of its own: a queue or an image takes longer than an answer. */
export async function describePlace(
	host: Host,
	{ timeoutMs = ANSWER_MS, signal: given }: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
): Promise<Description> {
	let time: AbortSignal | undefined;
	try {
		const started = await host.start(given);
		time = AbortSignal.timeout(timeoutMs);
		const signal = given ? AbortSignal.any([given, time]) : time;
		const [system = "unknown", directory, ...tools] = await ask(host, signal);
		const cwd = started.cwd ?? (directory?.startsWith("/") ? directory : undefined);
		return {
			address: host.address,
			system,
			...(cwd === undefined ? {} : { cwd }),
			notes: started.notes,
			tools,
			missing: TOOLS.filter((tool) => !tools.includes(tool)),
		};
	} catch (error) {
		if (given?.aborted) throw new HoldfastError("ABORTED", `interrupted while ${host.address} was looked at`, { cause: error });
		if (time?.aborted) throw new HoldfastError("UNREACHABLE", `${host.address} did not answer within ${Math.round(timeoutMs / 1000)} s`, { cause: error });
		throw error;
	}
}

async function ask(host: Host, signal: AbortSignal): Promise<string[]> {
	const stream = await host.open(SCRIPT, signal);
	let text = "";
	const said = new Promise<string | undefined>((resolve, reject) => {
		signal.addEventListener("abort", () => reject(signal.reason), { once: true });
		const look = () => new RegExp(`(?:^|\\n)${MARK}\\n([^]*?)${MARK}\\n`).exec(text)?.[1];
		stream.output.on("data", (bytes: Buffer) => {
			text = (text + bytes.toString("utf8")).slice(-MOST);
			if (look() !== undefined) resolve(look());
		});
		stream.output.on("error", () => {}); // `ended` reports how it ended
		stream.output.on("close", () => resolve(look()));
	});
	try {
		stream.input.on("error", () => {}); // as above
		stream.input.end();
		const found = await said;
		if (found === undefined) throw new HoldfastError("START_FAILED", `${host.address} was reached, but a command there said nothing: ${await stream.ended}`);
		return found.trim().split("\n");
	} finally {
		stream.close();
	}
}
