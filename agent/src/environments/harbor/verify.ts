/** The tests of a task: put in place once the agent has been stopped, run under their own limit, and what they wrote kept as evidence. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { HoldfastError } from "holdfast";
import { EpisodeError, type Evidence, quoted, type Score, type ToolContext } from "../../episode/index.js";
import { expandVariables, type HarborSettings } from "../../tasks/index.js";
import { emptyFor, putFolder } from "./files.js";
import { REWARD_BYTES, rewardIn } from "./reward.js";
import type { Layout } from "./where.js";

export type Verifier = Pick<HarborSettings["verifier"], "timeout_sec" | "env" | "user">;

export interface Verification {
	/** Folders of this machine with tests; of two files with one name the later one counts. None: they are in the image. */
	readonly tests: readonly string[];
	readonly verifier: Verifier;
	/** On top of the place's own. */
	readonly env: Readonly<Record<string, string>>;
	readonly layout: Layout;
	readonly workdir: string | undefined;
	/** `uid:gid` of the verifier's user. */
	readonly tester: string;
	/** A step's: where in the episode's folder its files go. */
	readonly step?: string;
}

/** The owner and the time of each reward, as the place saw them right behind the tests. */
const WRITTEN = "rewards.txt";
const STARTED = 127; // the shell's word for a file that is not there, 126 for one that cannot be run

/** Returns the score. Throws `scorer/…` if there is none. */
export async function verified(cx: ToolContext, verification: Verification): Promise<Omit<Score, "tamperable">> {
	const { tests, verifier, layout, workdir, tester } = verification;
	const user = verifier.user === undefined ? null : String(verifier.user);
	const logs = `${layout.logs}/verifier`;
	await emptyFor(cx, [logs, ...(tests.length > 0 ? [layout.tests] : [])], tester); // what was planted there is gone
	for (const folder of tests) await putFolder(cx, folder, layout.tests, tester, "test.sh");
	const script = `${layout.tests}/test.sh`;
	const written = `stat -c '%n, of %U, written at %Y' ${quoted(logs)}/reward.* > ${quoted(`${logs}/${WRITTEN}`)} 2>/dev/null`;
	const began = Date.now();
	const ran = await cx.run(`(${quoted(script)}) > ${quoted(`${logs}/test-stdout.txt`)} 2>&1; ended=$?; ${written}; exit $ended`, {
		...{ user, timeout: verifier.timeout_sec, leaveNothing: true },
		env: { ...layout.env, ...verification.env, ...expandVariables(verifier.env) },
		...(workdir === undefined ? {} : { cwd: workdir }),
	});
	const folder = path.join(cx.folder, ...(verification.step === undefined ? [] : ["steps", verification.step]), "verifier");
	const evidence = await kept(cx, { logs, folder, tests, script, seconds: (Date.now() - began) / 1_000, exit_code: ran.exit_code, user: tester });
	if (ran.timed_out) {
		const rest = ran.survivors.length > 0 ? `; ${ran.survivors.length} of its processes could not be killed` : "";
		throw new EpisodeError("scorer", "timeout", `the tests did not end within ${verifier.timeout_sec} s (verifier.timeout_sec) and were killed${rest}`);
	}
	const [json, txt] = [await readOnce(cx, `${logs}/reward.json`), await readOnce(cx, `${logs}/reward.txt`)];
	if (json === undefined && txt === undefined && (ran.exit_code === STARTED || ran.exit_code === STARTED - 1)) {
		const said = (await cx.read(`${logs}/test-stdout.txt`, 500))?.toString("utf8") ?? "";
		throw new EpisodeError("scorer", "failed", `tests/test.sh could not be run in the place: ${said.trim()}`);
	}
	return { ...rewardIn({ json, txt }), evidence };
}

interface Run {
	readonly logs: string;
	readonly folder: string;
	readonly tests: readonly string[];
	readonly script: string;
	readonly seconds: number;
	readonly exit_code: number | null;
	readonly user: string;
}

const isChanging = (error: unknown): boolean => error instanceof HoldfastError && error.code === "CONFLICT";

/** Reads a file as it is at one moment: one that a program of the agent's writes all the time is no reason for an error. */
async function readOnce(cx: ToolContext, file: string): Promise<Buffer | undefined> {
	try {
		return await cx.read(file, REWARD_BYTES);
	} catch (error) {
		if (!isChanging(error)) throw error;
		return (await cx.run(`head -c ${REWARD_BYTES} ${quoted(file)}`)).bytes();
	}
}

/** Copies the verifier's logs to the episode, with digests of what the score rests on. */
async function kept(cx: ToolContext, { logs, folder, tests, script, seconds, exit_code, user }: Run): Promise<Evidence[]> {
	fs.rmSync(folder, { recursive: true, force: true });
	const skipped = await cx.download(logs, folder).then(
		(moved) => moved.skipped,
		(error: unknown) => (isChanging(error) ? [`${logs} was written to while it was copied`] : Promise.reject(error)),
	);
	const evidence: Evidence[] = [];
	for (const name of ["reward.json", "reward.txt", WRITTEN, "test-stdout.txt"]) {
		const file = path.join(folder, name);
		if (!fs.lstatSync(file, { throwIfNoEntry: false })?.isFile()) continue; // a link out of the place leads wherever the place says
		const hash = createHash("sha256").update(fs.readFileSync(file));
		evidence.push({ file: path.relative(cx.folder, file), sha256: hash.digest("hex"), bytes: fs.statSync(file).size });
	}
	const about = { script, tests, user, seconds, exit_code, skipped, evidence };
	fs.writeFileSync(`${folder}.json`, `${JSON.stringify(about, null, "\t")}\n`, { mode: 0o600 });
	return evidence;
}
