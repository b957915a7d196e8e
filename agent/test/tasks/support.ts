/** Folders of tasks that tests write. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

export function folder(): string {
	const dir = fs.mkdtempSync(path.join(process.env.TEST_ROOT ? path.dirname(process.env.TEST_ROOT) : os.tmpdir(), "tasks-"));
	onTestFinished(() => fs.rmSync(dir, { recursive: true, force: true }));
	return dir;
}

/** Writes files below a folder; a value that begins with `->` is a link. */
export function put(dir: string, files: Readonly<Record<string, string>>): string {
	for (const [name, text] of Object.entries(files)) {
		const file = path.join(dir, name);
		fs.mkdirSync(path.dirname(file), { recursive: true });
		if (text.startsWith("->")) fs.symlinkSync(text.slice(2), file);
		else fs.writeFileSync(file, text);
	}
	return dir;
}

/** A task that can be run. */
export const good = (dir: string, toml = "", more: Readonly<Record<string, string>> = {}): string =>
	put(dir, {
		"task.toml": toml,
		"instruction.md": "<!-- harbor-canary GUID 1 -->\n# canary: do not train\n\nMake it work.\n",
		"environment/Dockerfile": "FROM scratch\n",
		"tests/test.sh": "echo 1 > /logs/verifier/reward.txt\n",
		...more,
	});
