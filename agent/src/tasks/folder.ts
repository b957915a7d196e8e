/** The folder of a task as a digest, and what may not be in it: links that leave it, and what is neither file nor folder. */
import { createHash, type Hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { TaskProblem } from "./item.js";

const PIECE = 1024 * 1024;

/** Returns a digest of names, permissions and contents of all that is below a folder, whatever order the file system lists it in. */
export function folderDigest(folder: string): string {
	const hash = createHash("sha256");
	addFolder(hash, folder, "");
	return hash.digest("hex");
}

function addFolder(hash: Hash, folder: string, below: string): void {
	for (const entry of entriesOf(folder)) {
		const [file, name] = [path.join(folder, entry.name), path.posix.join(below, entry.name)];
		if (entry.isDirectory()) addFolder(hash, file, name);
		else if (entry.isSymbolicLink()) hash.update(`link ${name}\0${fs.readlinkSync(file)}\0`);
		else if (entry.isFile()) addFile(hash, file, name);
	}
}

function addFile(hash: Hash, file: string, name: string): void {
	const fd = fs.openSync(file, "r");
	try {
		const { mode, size } = fs.fstatSync(fd);
		hash.update(`file ${name}\0${mode & 0o111 ? "x" : "-"}\0${size}\0`);
		const piece = Buffer.alloc(Math.min(PIECE, Math.max(size, 1)));
		for (let read = fs.readSync(fd, piece); read > 0; read = fs.readSync(fd, piece)) hash.update(piece.subarray(0, read));
	} finally {
		fs.closeSync(fd);
	}
}

/** Returns what must not be in a task that comes from others: a link out of it would hand a file of this machine to the agent. */
export function folderProblems(folder: string): TaskProblem[] {
	const problems: TaskProblem[] = [];
	const visit = (dir: string): void => {
		for (const entry of entriesOf(dir)) {
			const file = path.join(dir, entry.name);
			const name = path.relative(folder, file);
			if (entry.isDirectory()) visit(file);
			else if (entry.isSymbolicLink()) {
				const target = fs.readlinkSync(file);
				if (path.isAbsolute(target) || path.relative(folder, path.resolve(path.dirname(file), target)).split(path.sep)[0] === "..")
					problems.push({ at: folder, text: `the link ${name} leads out of the task, to ${target}; put the file itself there` });
			} else if (!entry.isFile()) problems.push({ at: folder, text: `${name} is a device, a pipe or a socket; a task has files, folders and links only` });
		}
	};
	visit(folder);
	return problems;
}

const entriesOf = (dir: string): fs.Dirent[] =>
	fs
		.readdirSync(dir, { withFileTypes: true })
		.filter(({ name }) => name !== ".git")
		.sort((a, b) => (a.name < b.name ? -1 : 1));
