/** Local folders for a copy: each directory is held open while its names are used, and no link is followed. */
import fs, { constants } from "node:fs";
import path from "node:path";
import { errno, HoldfastError } from "../../base/index.js";
import { HeldDirectory, inDirectory } from "./held.js";
import { type Files, type PutItem, stopIf } from "./interface.js";

/** Small files are fastest without a wait between them; after this many, other work gets a turn. */
const AT_ONCE = 32;
const others = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const install: Files["install"] = (stage, dir, mode) =>
	inDirectory(dir, (above, name) => {
		const complete = above.below(path.basename(stage)); // beside its target
		try {
			if (above.stat(name)) throw Object.assign(new Error("it is there"), { code: "EEXIST" });
			fs.chmodSync(complete.self, mode);
			fs.renameSync(above.at(path.basename(stage)), above.at(name));
		} finally {
			complete.close();
		}
	});

export const merge: Files["merge"] = (stage, dir) =>
	inDirectory(stage, async (above, name) => {
		await both(above.below(name), HeldDirectory.open(dir), (from, to) => {
			inTheWay(from, to);
			moveAll(from, to);
		});
		above.remove(name);
	});

async function both(from: HeldDirectory, to: HeldDirectory, act: (from: HeldDirectory, to: HeldDirectory) => void): Promise<void> {
	try {
		act(from, to);
	} catch (error) {
		throw to.inWords(from.inWords(error, ""), "");
	} finally {
		from.close();
		to.close();
	}
}

function inTheWay(from: HeldDirectory, to: HeldDirectory): void {
	for (const entry of fs.readdirSync(from.self, { withFileTypes: true })) {
		const there = to.stat(entry.name);
		const shown = path.join(to.path, entry.name);
		if (!there) continue;
		if (!entry.isDirectory()) {
			if (there.isDirectory()) throw new HoldfastError("INVALID", `${shown} is a directory`);
		} else if (!there.isDirectory()) throw new HoldfastError("INVALID", `${shown} is there and is no directory; nothing was written`);
		else inside(from, to, entry.name, inTheWay);
	}
}

function moveAll(from: HeldDirectory, to: HeldDirectory): void {
	for (const entry of fs.readdirSync(from.self, { withFileTypes: true })) {
		if (entry.isDirectory() && to.stat(entry.name)) inside(from, to, entry.name, moveAll);
		else fs.renameSync(from.at(entry.name), to.at(entry.name));
	}
}

function inside(from: HeldDirectory, to: HeldDirectory, name: string, act: (from: HeldDirectory, to: HeldDirectory) => void): void {
	const one = from.below(name);
	try {
		const other = to.below(name);
		try {
			act(one, other);
		} finally {
			other.close();
		}
	} finally {
		one.close();
	}
}

export const putAll: Files["putAll"] = async (dir, items, { signal } = {}) => {
	const masked = process.umask();
	await each(dir, items, { make: true }, async (held, name, item, at) => {
		if (at % AT_ONCE === 0) await others();
		stopIf(signal, dir);
		putOne(held, name, item, masked);
	});
};

export const readAll: Files["readAll"] = async (dir, names, signal) => {
	const found: Buffer[] = [];
	await each(dir, names, {}, async (held, name, { size }, at) => {
		if (at % AT_ONCE === 0) await others();
		stopIf(signal, dir);
		found.push(readWhole(held, name, size));
	});
	return found;
};

/** Handles files one after the other and holds the directory of the last one open, so that the next file in the same directory does not open it again. */
async function each<T extends { readonly name: string }>(
	dir: string,
	items: readonly T[],
	options: { make?: boolean },
	act: (held: HeldDirectory, name: string, item: T, at: number) => Promise<void>,
): Promise<void> {
	const top = HeldDirectory.open(dir, options);
	let held: { readonly above: string; readonly dir: HeldDirectory } | undefined;
	try {
		for (const [at, item] of items.entries()) {
			const above = path.dirname(item.name);
			if (held?.above !== above) {
				held?.dir.close();
				held = undefined;
				held = { above, dir: top.below(above, options) };
			}
			const name = path.basename(item.name);
			await act(held.dir, name, item, at).catch((error: unknown) => {
				throw held?.dir.inWords(error, name) ?? error;
			});
		}
	} finally {
		held?.dir.close();
		top.close();
	}
}

function putOne(held: HeldDirectory, name: string, item: PutItem, masked: number): void {
	if (item.kind === "link") fs.symlinkSync(item.target, held.at(name));
	else if (item.kind === "directory") {
		const made = held.below(name, { make: true });
		try {
			fs.chmodSync(made.self, item.mode);
		} finally {
			made.close();
		}
	} else {
		const fd = fs.openSync(held.at(name), "wx", item.mode);
		try {
			fs.writeFileSync(fd, item.content);
			if ((item.mode & masked) !== 0) fs.fchmodSync(fd, item.mode);
		} finally {
			fs.closeSync(fd);
		}
	}
}

function readWhole(held: HeldDirectory, name: string, size: number): Buffer {
	let fd: number | undefined;
	try {
		fd = fs.openSync(held.at(name), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
		const bytes = Buffer.allocUnsafe(size + 1);
		let got = 0;
		if (!fs.fstatSync(fd).isFile()) throw changed(held, name);
		for (let more = -1; got < bytes.length && more !== 0; got += more) more = fs.readSync(fd, bytes, got, bytes.length - got, got);
		if (got !== size) throw changed(held, name);
		return bytes.subarray(0, size);
	} catch (error) {
		throw errno(error) === "ELOOP" ? changed(held, name) : error; // a link has replaced it
	} finally {
		if (fd !== undefined) fs.closeSync(fd);
	}
}

const changed = (held: HeldDirectory, name: string): HoldfastError =>
	new HoldfastError("CONFLICT", `${path.join(held.path, name)} was changed while it was read; try again`);
