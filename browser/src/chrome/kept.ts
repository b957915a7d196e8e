/**
 * The Chromium of a task: a kept process in the task's place, so it outlives this program and ends with the task. Its profile has the file in which
 * Chromium writes its port; with its end by `kill` the profile goes too.
 */
import { createHash } from "node:crypto";
import type { Process, Runtime, Task } from "holdfast";
import { messageOf, WebError } from "../base/index.js";
import { INSTALL, NAMES } from "./find.js";

export interface KeptBrowser {
	readonly process: Process;
	readonly port: number;
	/** The path of the browser's own connection: a random name, so that another program on that port is not taken for it. */
	readonly path: string;
	/** In the task's place. */
	readonly directory: string;
	/** False: it ran before. */
	readonly started: boolean;
}

export interface LaunchSettings {
	readonly executable?: string | undefined;
	readonly args?: readonly string[] | undefined;
}

const NAME = "browser";
const START_MS = 60_000;
const LOG = { limit: 1024 * 1024, full: "ring" } as const;
const ARGS = [
	"--headless=new",
	"--remote-debugging-port=0",
	"--remote-debugging-address=127.0.0.1",
	"--no-first-run",
	"--no-default-browser-check",
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-sync",
	"--disable-quic",
	"--disable-gpu",
	"--disable-dev-shm-usage",
	"--disable-breakpad",
	"--disable-back-forward-cache", // a page out of it is told to no one who drives the browser
	"--disable-background-timer-throttling",
	"--disable-backgrounding-occluded-windows",
	"--disable-renderer-backgrounding",
	"--disable-popup-blocking",
	"--disable-prompt-on-repost",
	"--disable-hang-monitor",
	"--password-store=basic",
	"--use-mock-keychain",
	"--window-size=1280,900",
];

/**
 * $1 the profile, $2 the program or "", the rest its arguments. A polite kill ends Chromium and removes the profile; a crash of it does not. Chromium leaves the
 * directory of its socket behind, so that is in the profile too. `by` is who uses the profile: of two programs that start a browser at once, one gives way.
 */
const SCRIPT = `dir=$1 exe=$2; shift 2
if [ -z "$exe" ]; then for name in ${NAMES.join(" ")}; do exe=$(command -v "$name") && break; done; fi
[ -n "$exe" ] || { echo "holdfast-browser: no Chromium in this place: ${INSTALL}"; exit 127; }
mkdir -p -m 700 "$dir" && [ -O "$dir" ] && [ ! -L "$dir" ] || { echo "holdfast-browser: $dir is of another user; remove it"; exit 126; }
tries=0
until ln -s "$$" "$dir/by" 2>/dev/null; do
	tries=$((tries + 1)); [ "$tries" -lt 5 ] || { echo "holdfast-browser: $dir cannot be written"; exit 126; }
	grep -qs -- "$dir" "/proc/$(readlink "$dir/by")/cmdline" && { echo "holdfast-browser: another one of this task has just been started"; exit 75; }
	rm -f "$dir/by"
done
rm -rf "$dir/DevToolsActivePort" "$dir/tmp" && mkdir -m 700 "$dir/tmp" || exit 126
export TMPDIR="$dir/tmp"
[ "$(id -u)" = 0 ] && set -- --no-sandbox "$@"
ended=
trap 'ended=1; kill -TERM "$pid" 2>/dev/null' TERM INT HUP
"$exe" --user-data-dir="$dir" "$@" about:blank & pid=$!
while kill -0 "$pid" 2>/dev/null; do wait "$pid"; done
wait "$pid"; code=$?
if [ -n "$ended" ]; then rm -rf "$dir"; else rm -f "$dir/by"; fi
exit "$code"`;

/** The profile of a task's browser. One for each home: two of them may have a task of the same name. */
export const profileOf = (runtime: Runtime, task: string): string =>
	`/tmp/holdfast-browser-${createHash("sha256").update(`${runtime.home.root}\n${task}`).digest("hex").slice(0, 16)}`;

/** Returns the browser of the task that runs, if there is one. */
export function findBrowser(runtime: Runtime, task: string): Process | undefined {
	const profile = profileOf(runtime, task);
	return runtime.list({ task, ended: false }).find(({ spec }) => spec.name === NAME && spec.command.includes(profile));
}

/** Returns who has taken over the browser of a task: who has the keyboard of its process. */
export function holderOf(runtime: Runtime, task: string): string | undefined {
	const process = findBrowser(runtime, task);
	return process && runtime.keyboards.holder(process.id)?.who;
}

/** Returns the running one, or starts it. `place`: as the task has it; a sandbox or container is the boundary in place of Chromium's own. */
export async function keptBrowser(runtime: Runtime, task: Task, place: string, settings: LaunchSettings, signal: AbortSignal): Promise<KeptBrowser> {
	const directory = profileOf(runtime, task.name);
	const running = findBrowser(runtime, task.name);
	if (running) return { process: running, directory, ...(await portOf(task, running, directory, signal)), started: false };
	const inside = place === "local" || place.startsWith("ssh") ? [] : ["--no-sandbox"];
	const args = [...inside, ...ARGS, ...(settings.args ?? [])];
	const process = await task.spawn({
		command: ["sh", "-c", SCRIPT, "holdfast-browser", directory, settings.executable ?? "", ...args],
		name: NAME,
		cwd: "/tmp", // which every place has
		log: LOG,
		env: { DISPLAY: undefined },
	});
	try {
		return { process, directory, ...(await portOf(task, process, directory, signal)), started: true };
	} catch (error) {
		const other = findBrowser(runtime, task.name); // another program was faster, and this one gave way
		if (other && other.id !== process.id) return { process: other, directory, ...(await portOf(task, other, directory, signal)), started: false };
		await process.kill().catch(() => {});
		throw error;
	}
}

/** Waits until Chromium listens. The file is written by Chromium, and gone before each start. */
async function portOf(task: Task, process: Process, directory: string, signal: AbortSignal): Promise<Pick<KeptBrowser, "port" | "path">> {
	const late = AbortSignal.timeout(START_MS);
	const stop = AbortSignal.any([signal, late]);
	for (let pause = 20; ; pause = Math.min(400, pause * 1.5)) {
		const found = await task.files.read(`${directory}/DevToolsActivePort`, { signal }).then(
			(bytes) => /^(\d+)\n(\/devtools\/\S+)/.exec(bytes.toString("utf8")) ?? undefined,
			() => undefined,
		);
		if (found) return { port: Number(found[1]), path: found[2] ?? "" };
		if (signal.aborted) throw signal.reason;
		const { status } = process.status();
		if (status !== "running") throw new WebError(`Chromium did not start: ${lastWords(process)}`);
		if (late.aborted) throw new WebError(`Chromium did not listen within ${START_MS / 1000} s: ${lastWords(process)}`);
		await process.wait({ timeout: pause, signal: stop }).catch(() => {});
	}
}

function lastWords(process: Process): string {
	try {
		const text = process
			.read(0, 64 * 1024)
			.bytes.toString("utf8")
			.trim()
			.split("\n");
		return (
			text
				.filter((line) => !/dbus|GPU|gcm/.test(line))
				.slice(-3)
				.join(" · ")
				.slice(-500) || "it said nothing"
		);
	} catch (error) {
		return messageOf(error);
	}
}
