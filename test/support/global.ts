import fs from "node:fs";
import os from "node:os";
import path from "node:path";

/** One directory for everything the tests write; nothing may be left in it. */
export default function setup(): () => Promise<void> {
	const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "holdfast-test-"));
	fs.chmodSync(root, 0o711); // some tests let another user through to what is theirs
	process.env.TEST_ROOT = root; // each worker has a directory of its own in it: leaks.ts
	// Shells read profile files: nobody's own, which may be slow, and hold locks when they are killed.
	const home = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "holdfast-nobody-"));
	process.env.HOME = home;
	return async () => {
		// Some test has started it; loaded only then, since it brings much with it.
		if (fs.existsSync(path.join(root, "docker"))) await (await import("./dockerd.js")).stopSharedEngine(root);
		for (const dir of [root, home]) fs.rmSync(dir, { recursive: true, force: true });
	};
}
