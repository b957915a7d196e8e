/** A small tmpfs that a test can fill; needs root. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { TestContext } from "vitest";
import { errno } from "../../src/base/errors.js";
import { atEnd, tempDir, until } from "./home.js";

const PAGE = 4096;

interface Disk {
	readonly home: string;
	fill(options: { leaving: number }): void;
	empty(): void;
}

export function smallDisk({ skip }: TestContext, bytes: number): Disk {
	const at = tempDir("disk");
	const { status, stderr } = spawnSync("/bin/mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", at], { encoding: "utf8" });
	skip(status !== 0, `a tmpfs cannot be mounted here: ${stderr}`);
	const unmount = (...options: string[]) => spawnSync("/bin/umount", [...options, at]).status === 0;
	atEnd(() => until("nothing on the disk is open", () => unmount()).finally(() => unmount("-l")));
	const ballast = path.join(at, "ballast");
	const fill = ({ leaving }: { leaving: number }) => {
		const file = fs.openSync(ballast, "w");
		let size = 0;
		try {
			for (const page = Buffer.alloc(PAGE); ; ) size += fs.writeSync(file, page);
		} catch (error) {
			if (errno(error) !== "ENOSPC") throw error;
			fs.ftruncateSync(file, size - leaving);
		} finally {
			fs.closeSync(file);
		}
	};
	return { home: path.join(at, "home"), fill, empty: () => fs.rmSync(ballast, { force: true }) };
}
