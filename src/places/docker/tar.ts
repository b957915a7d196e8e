/** An archive of directories, the one kind of file that has to be put into a container from outside. POSIX ustar. */
export interface TarDirectory {
	/** From where it is unpacked; empty for that itself. */
	readonly path: string;
	readonly mode: number;
	readonly uid: number;
	readonly gid: number;
}

const BLOCK = 512;

export function tarOfDirectories(directories: readonly TarDirectory[]): Buffer {
	return Buffer.concat([...directories.map(header), Buffer.alloc(2 * BLOCK)]);
}

function header({ path, mode, uid, gid }: TarDirectory): Buffer {
	const block = Buffer.alloc(BLOCK);
	const octal = (value: number, at: number, length: number) => block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "ascii");
	block.write(`${path || "."}/`, 0, 100, "utf8");
	octal(mode, 100, 8);
	octal(uid, 108, 8);
	octal(gid, 116, 8);
	octal(0, 124, 12);
	octal(Math.floor(Date.now() / 1000), 136, 12);
	block.write("        5", 148, "ascii"); // a blank checksum, and the type: a directory
	block.write("ustar\0" + "00", 257, "ascii");
	octal(
		block.reduce((sum, byte) => sum + byte, 0),
		148,
		7,
	);
	return block;
}
