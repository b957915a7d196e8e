/** A small tmpfs that a test can fill; needs root. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { TestContext } from "vitest";
import { atEnd, tempDir } from "./dirs.js";

export interface SmallDisk {
	readonly dir: string;
	/** Leaves so many bytes free, about: space is taken by pages of 4 KiB. */
	fill(leaving?: number): void;
	empty(): void;
}

export function smallDisk({ skip }: TestContext, bytes = 2 * 1024 * 1024): SmallDisk {
	const at = tempDir("disk");
	const { status, stderr } = spawnSync("/bin/mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", at], { encoding: "utf8" });
	skip(status !== 0, `a tmpfs cannot be mounted here: ${stderr}`);
	atEnd(() => {
		if (spawnSync("/bin/umount", [at]).status !== 0) throw new Error(`something on ${at} is still open`);
	});
	const ballast = path.join(at, "ballast");
	const fill = (leaving = 0) => {
		const file = fs.openSync(ballast, "w");
		let size = 0;
		try {
			for (const page = Buffer.alloc(4096); ; ) size += fs.writeSync(file, page);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
			fs.ftruncateSync(file, Math.max(0, size - leaving));
		} finally {
			fs.closeSync(file);
		}
	};
	return { dir: at, fill, empty: () => fs.rmSync(ballast, { force: true }) };
}
