import fs from "node:fs";
import os from "node:os";
import path from "node:path";

/** One directory for everything the tests write; nothing may be left in it. */
export default function setup(): (() => Promise<void>) | undefined {
	if (process.env.TEST_WORKERS !== undefined) return undefined; // each project of vitest.config.ts has it called
	const root = process.env.TEST_ROOT ?? fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "holdfast-test-")); // of scripts/test.mjs, which removes what a run leaves
	fs.mkdirSync(root, { recursive: true });
	fs.chmodSync(root, 0o711); // some tests let another user through to what is theirs
	process.env.TEST_CACHE = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "holdfast-tests"); // filled by scripts/newer.mjs
	process.env.TEST_ROOT = root;
	process.env.TEST_WORKERS = root; // each worker has a directory of its own in it: leaks.ts
	// Shells read profile files: nobody's own, which may be slow, and hold locks when they are killed.
	const home = path.join(root, "nobody");
	fs.mkdirSync(home, { mode: 0o700 });
	process.env.HOME = home;
	return async () => {
		// Some test has started it; loaded only then, since it brings much with it.
		if (fs.existsSync(path.join(root, "docker"))) await (await import("./dockerd.js")).stopSharedEngine(root);
		if (fs.existsSync(path.join(root, "apptainer"))) await (await import("./apptainer.js")).stopApptainer(root);
		if (fs.existsSync(path.join(root, "slurm"))) await (await import("./slurm.js")).stopSlurm(root);
		fs.rmSync(root, { recursive: true, force: true });
	};
}
