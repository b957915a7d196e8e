/** `always`: a rule in the person's own `policy.json`, which is theirs to change or remove; nothing here ever puts it back. */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { applyEdits, modify } from "jsonc-parser";
import { ensureDir, HoldfastError, Lease, readIfThere, realPath, statIfThere } from "../base/index.js";
import { checkRules, loadParser, personFile, RuleFile } from "../policy/index.js";
import type { Question } from "./approval.js";
import { allowing } from "./grants.js";

const PATIENCE_MS = 5_000;

/** Returns what adds the rule. Whatever stands against that is found before, and thrown: then nothing has been answered yet. */
export async function prepareAlways(question: Question, by: string, env: NodeJS.ProcessEnv): Promise<() => Promise<void>> {
	await loadParser();
	const file = personFile(env);
	const rule = allowing(`always-${question.id.slice(5)}`, question, `a person allowed it for good (${by}, ${new Date().toISOString().slice(0, 10)})`);
	const added = () => withRule(file, rule, { cwd: question.cwd, env });
	try {
		added();
		ensureDir(path.dirname(file));
		fs.accessSync(path.dirname(realPath(file)), fs.constants.W_OK);
	} catch (error) {
		throw new HoldfastError("CONFIG", `nothing was answered: ${file} cannot take another rule: ${(error as Error).message}`, { cause: error });
	}
	return async () => {
		for (;;) {
			const lease = await takeLease(path.join(path.dirname(file), ".policy.lease"));
			try {
				if (replace(realPath(file), added(), lease)) return;
			} finally {
				lease.release();
			}
		}
	};
}

/** The text of the file with the rule in it, tried like any file of rules. */
function withRule(file: string, rule: RuleFile["rules"][number], where: Parameters<typeof checkRules>[2]): string {
	const old = readIfThere(file) ?? '{\n\t"rules": []\n}\n';
	const indent = /^\{\s*\n( +)/.exec(old)?.[1];
	const formattingOptions = { insertSpaces: indent !== undefined, tabSize: indent?.length ?? 1, eol: "\n" };
	const { rules } = RuleFile.parse(JSON.parse(old));
	const text = applyEdits(old, modify(old, ["rules", rules.length], rule, { formattingOptions, isArrayInsertion: true }));
	checkRules(file, RuleFile.parse(JSON.parse(text)), where);
	return text;
}

/** False: this program was stopped for so long that it lost the lease, and the file may have changed meanwhile. */
function replace(file: string, text: string, lease: Lease): boolean {
	const temp = `${file}.${process.pid}.tmp`;
	try {
		fs.writeFileSync(temp, text, { mode: (statIfThere(file)?.mode ?? 0o600) & 0o777 });
		if (!lease.held()) return false;
		fs.renameSync(temp, file);
		return true;
	} finally {
		fs.rmSync(temp, { force: true });
	}
}

async function takeLease(file: string): Promise<Lease> {
	for (const giveUp = performance.now() + PATIENCE_MS; ; await sleep(20)) {
		const lease = Lease.take(file);
		if (lease) return lease;
		if (performance.now() > giveUp) throw new HoldfastError("CONFIG", `${file} is held by another program; add the rule to policy.json by hand`);
	}
}
