/** Ports and servers on the loopback device of a remote machine: they are probed remotely. */
import { HoldfastError, type Kernel, shellQuote } from "../../base/index.js";
import { isListening } from "../local/inside.js";
import { retry } from "../local/probes.js";

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
/** All addresses, 127.…, ::1, and IPv4 addresses in IPv6 form: groups of four bytes in the byte order of the processor. */
const LOOPBACK = /^(0{8}|0{32}|[0-9A-F]{6}7F|7F[0-9A-F]{6}|0{24}01000000|0{31}1|0{16}(FFFF0000|0000FFFF)(0{8}|[0-9A-F]{6}7F|7F[0-9A-F]{6}))$/;
const ANSWER_SECONDS = 10;
const NOBODY_CAN_ASK = 69;

/** The machine to probe. */
export interface Probed {
	readonly name: string;
	readonly kernel: Pick<Kernel, "read">;
	run(script: string, options: { signal: AbortSignal }): Promise<{ readonly status: number; readonly output: Buffer }>;
}

/** Waits until a remote server accepts connections. */
export async function portOpensRemotely(machine: Probed, port: number, signal: AbortSignal): Promise<void> {
	await retry(signal, async () => {
		const tables = (await machine.kernel.read(TABLES)).filter((table) => table !== undefined);
		if (tables.length === 0)
			throw new HoldfastError(
				"UNSUPPORTED",
				`${machine.name} does not show which ports are open there (/proc/net/tcp); wait for a pattern in the output instead`,
			);
		if (!isListening(tables, port, LOOPBACK)) throw new Error("nothing listens");
	});
}

/** Makes the same request as a local probe, with any remote tool that can. */
export async function httpAnswersRemotely(machine: Probed, { url, status }: { url: string; status: number | undefined }, signal: AbortSignal): Promise<void> {
	const script = requestScript(new URL(url));
	await retry(signal, async () => {
		const { status: ended, output } = await machine.run(script, { signal });
		if (ended === NOBODY_CAN_ASK)
			throw new HoldfastError(
				"UNSUPPORTED",
				`${machine.name} has nothing that can ask for ${url}: neither curl nor python3${url.startsWith("https:") ? "" : ", bash nor nc"}; install one of them there, or wait for a port or a pattern`,
			);
		const found = Number(/^(?:HTTP\/\S+ )?(\d{3})\b/.exec(output.toString("latin1"))?.[1] ?? 0);
		const good = status === undefined ? found >= 200 && found < 400 : found === status;
		if (!good) throw new Error(`status ${found}`);
	});
}

const PYTHON = `import sys, http.client as h
s, a, p, w, t = sys.argv[1:]
c = (h.HTTPSConnection if s == "https:" else h.HTTPConnection)(a, int(p), timeout=int(t))
c.request("GET", w)
print(c.getresponse().status)`;

/** Prints the status, or the first line of the answer. Follows no redirects, and ignores the user's settings and proxies. */
function requestScript(url: URL): string {
	const tls = url.protocol === "https:";
	const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
	const port = url.port || (tls ? "443" : "80");
	const what = `${url.pathname}${url.search}`;
	const request = `GET ${what} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\n\r\n`;
	const limit = `$(command -v timeout >/dev/null 2>&1 && timeout 1 true 2>/dev/null && echo timeout ${ANSWER_SECONDS})`;
	const python = ["python3", "-c", PYTHON, url.protocol, host, port, what, String(ANSWER_SECONDS)].map(shellQuote).join(" ");
	const plain = [
		`if command -v bash >/dev/null 2>&1; then`,
		`	${limit} bash -c 'exec 3<>"/dev/tcp/$1/$2" && printf %s "$3" >&3 && IFS= read -r -t ${ANSWER_SECONDS} line <&3; echo "$line"' _ ${shellQuote(host)} ${port} ${shellQuote(request)} 2>/dev/null; exit 0`,
		`fi`,
		`if command -v nc >/dev/null 2>&1; then printf %s ${shellQuote(request)} | ${limit} nc ${shellQuote(host)} ${port} 2>/dev/null | head -n 1; exit 0; fi`,
	];
	return [
		`if command -v curl >/dev/null 2>&1; then curl -q -s -o /dev/null --noproxy '*' --max-time ${ANSWER_SECONDS} -w '%{http_code}' ${shellQuote(url.href)}; exit 0; fi`,
		...(tls ? [] : plain),
		`if command -v python3 >/dev/null 2>&1; then ${python} 2>/dev/null; exit 0; fi`,
		`exit ${NOBODY_CAN_ASK}`,
	].join("\n");
}
