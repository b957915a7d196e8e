/** Starts a shell: a fresh one, or one that takes over the state of another. */
import fs from "node:fs";
import path from "node:path";
import { errno, HoldfastError, isSameFile, readStart, until, watchAll } from "../base/index.js";
import type { Sandbox } from "../places/index.js";
import { describeEnd, isOver, type Runtime } from "../process/index.js";
import { Bash } from "./bash.js";
import { closed } from "./patience.js";
import { sharedOf } from "./post.js";
import { SNAPSHOTS } from "./state.js";

const BIRTH_MS = 10_000; // for the user's profile files
const IDLE_SECONDS = 24 * 3600; // an idle shell ends by itself after this; its state stays
const RUN = '\\builtin eval -- "$__hf_c"\n'; // see __hf_p in rc.bash
const STATE = [...SNAPSHOTS, "history"];
const PROMPTS = "PROMPT_COMMAND, which the shell's profile files make read-only, is not set in this shell; bash would run it for every line that it reads";
const LOG_BYTES = 1024 * 1024;

export interface Birth {
	readonly task: string;
	/** The directory in which it starts, or to which it returns. */
	readonly cwd: string;
	/** The state directory of the shell whose state it takes over. */
	readonly from?: string;
	/** Returns the directory of that shell by now: it may have gone to another since `cwd` was read. */
	readonly nowIn?: () => Promise<string | undefined>;
	/** Give it up, and leave nothing of it. */
	readonly signal: AbortSignal;
}

/** A new one. If the profile files hang or end it, one without them; if they make PROMPT_COMMAND read-only, one that has all else of them. The notes say so. */
export async function bear(runtime: Runtime, birth: Birth): Promise<{ bash: Bash; notes: string[] }> {
	const told = () => [runtime.sandboxes?.takeNote(birth.task)].filter((note) => note !== undefined);
	if (birth.from) {
		const { bash } = await start(runtime, birth, false);
		const isIn = (dir: string | undefined) => dir !== undefined && (bash.cwd === dir || bash.line.isSame(bash.cwd, dir));
		const lost = !isIn(birth.cwd) && !isIn(await birth.nowIn?.());
		return {
			bash,
			notes: lost ? [...told(), `the new shell could not go to ${birth.cwd}, which is gone or may not be entered; it is in ${bash.cwd}`] : told(),
		};
	}
	try {
		const { bash, prompts } = await start(runtime, birth, true);
		if (!prompts) return { bash, notes: told() };
		const next = await start(runtime, { ...birth, cwd: bash.cwd, from: bash.state }, false);
		bash.leave();
		return { bash: next.bash, notes: [...told(), PROMPTS] };
	} catch (error) {
		if (!(error instanceof HoldfastError) || error.code !== "START_FAILED") throw error;
		const { bash } = await start(runtime, birth, false);
		return { bash, notes: [...told(), `the shell's profile files (/etc/profile, ~/.profile and the like) were left out: ${error.message}`] };
	}
}

/** `prompts`: PROMPT_COMMAND is read-only in it, so that bash runs it before each line that it reads. */
async function start(runtime: Runtime, birth: Birth, profile: boolean): Promise<{ bash: Bash; prompts: boolean }> {
	const place = await runtime.place(birth.task);
	const { sandbox, machine } = place;
	const { tools, environment, procs, scripts } = await machine.ready();
	const { bash } = tools;
	if (!bash)
		throw new HoldfastError(
			"START_FAILED",
			`there is no bash on ${machine.name}, and the persistent shell is one; install bash, or start a background process`,
		);
	const ours = (name: string) => `${sandbox?.scripts ?? scripts}/shell/${name}`;
	const env: Record<string, string | undefined> = {
		...(birth.from
			? Object.fromEntries(Object.keys(environment).map((name) => [name, undefined])) // the state has it all
			: runtime.settings.get(birth.task)?.env),
		POSIXLY_CORRECT: undefined, // with it bash reads no rcfile; ours would unset it
		HF_PROCS: sandbox?.shared ?? procs,
		HF_SHELVES: sandbox ? "" : "1",
		HF_RESCUE: ours("rescue.bash"),
		HF_FROM: birth.from === undefined ? "" : sandbox ? shareState(sandbox, birth.from) : machine.files.path(path.basename(path.dirname(birth.from)), "shell"),
		HF_PROFILE: profile ? "1" : "",
		HF_IDLE: String(IDLE_SECONDS),
		HF_BIN: place.sees === "all" ? (runtime.programs() ?? "") : "", // no program becomes another user in a sandbox
	};
	const argv = [bash, "--noprofile", "--rcfile", ours("rc.bash"), "--noediting", "-i"];
	const options = { command: argv, cwd: place.birthplace(birth.cwd), task: birth.task, stdin: true, env, log: { limit: LOG_BYTES } };
	const born = await runtime.spawn(options, {
		kind: "shell",
		prepare({ id, dir }) {
			fs.mkdirSync(path.join(dir, "shell"), { mode: 0o700 });
			for (const name of [...STATE, "begun", "ready", "go"]) fs.writeFileSync(path.join(dir, "shell", name), "", { mode: 0o600 });
			fs.writeFileSync(path.join(dir, "shell", "run"), RUN, { mode: 0o600 });
			sandbox?.share(
				id,
				dir,
				[...STATE, "begun", "ready", "go", "run"].map((name) => `shell/${name}`),
			);
		},
	});
	const state = path.join(born.dir, "shell");
	const watch = watchAll(
		(poke) => runtime.home.watch.directory(path.join(sharedOf(born) ?? born.dir, "shell"), poke),
		(poke) => born.watch(poke),
	);
	const who = birth.from ? "taking over the variables and functions of the last shell" : "they"; // the profile files
	const arrived = new AbortController();
	machine.files.arrival(born.id, "shell/ready", arrived.signal).catch(() => {}); // the wait below has its own deadline
	const isReady = () => {
		const ready = readReady(path.join(state, "ready"));
		const status = born.status();
		if (!ready && isOver(status)) throw new HoldfastError("START_FAILED", `${who} ended the shell (${describeEnd(status)})`);
		return ready;
	};
	try {
		const ready = await until(watch, isReady, { deadline: performance.now() + BIRTH_MS, signal: birth.signal });
		if (!ready) {
			await born.kill({ graceMs: 0 });
			if (birth.signal.aborted) throw closed();
			throw new HoldfastError("START_FAILED", `${who} took more than ${BIRTH_MS / 1000} s`);
		}
		await born.sync(); // what it has said until now is not about any command
		return { bash: new Bash(born, ready.cwd), prompts: ready.prompts };
	} finally {
		arrived.abort();
	}
}

/** The state of an earlier shell, perhaps of another sandbox of the task; where it is in there. */
function shareState(sandbox: Sandbox, state: string): string {
	const dir = path.dirname(state);
	const id = path.basename(dir);
	if (!isSameFile(path.join(sandbox.sharedHere, id, "shell", "history"), path.join(state, "history")))
		sandbox.share(
			id,
			dir,
			STATE.map((name) => `shell/${name}`),
		);
	return `${sandbox.shared}/${id}/shell`;
}

/** The shell's directory and the attributes of PROMPT_COMMAND, a NUL behind each. */
function readReady(file: string): { cwd: string; prompts: boolean } | undefined {
	try {
		const [cwd, attributes, end] = readStart(file, 64 * 1024).split("\0");
		return cwd === undefined || end === undefined ? undefined : { cwd, prompts: attributes?.includes("r") === true };
	} catch (error) {
		if (errno(error) === "ENOENT") return undefined;
		throw error;
	}
}
