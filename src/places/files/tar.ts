/** Writes a tar archive of a few items that any remote tar can unpack: ustar, with GNU's extension for long names. */
import type { PutItem } from "./interface.js";

const BLOCK = 512;
const NAME = 100;
const TYPES = { file: "0", directory: "5", link: "2" } as const;

/** Owned by root by default. */
export type TarItem = PutItem & { readonly uid?: number; readonly gid?: number };

export function tarOf(items: readonly TarItem[]): Buffer {
	const blocks: Buffer[] = [];
	for (const item of items) {
		const name = Buffer.from(`./${item.name}${item.kind === "directory" ? "/" : ""}`);
		const target = Buffer.from(item.kind === "link" ? item.target : "");
		if (name.length > NAME) blocks.push(...long("L", name));
		if (target.length > NAME) blocks.push(...long("K", target));
		const content = item.kind === "file" ? item.content : Buffer.alloc(0);
		const { mode, uid = 0, gid = 0 } = item;
		blocks.push(header({ name, target, mode, uid, gid, size: content.length, type: TYPES[item.kind] }), ...padded(content));
	}
	blocks.push(Buffer.alloc(2 * BLOCK));
	return Buffer.concat(blocks);
}

const long = (type: "L" | "K", text: Buffer): Buffer[] => {
	const content = Buffer.concat([text, Buffer.alloc(1)]);
	const name = Buffer.from("././@LongLink");
	return [header({ name, target: Buffer.alloc(0), mode: 0, uid: 0, gid: 0, size: content.length, type }), ...padded(content)];
};

function padded(content: Uint8Array): Buffer[] {
	const over = content.length % BLOCK;
	return [Buffer.from(content.buffer, content.byteOffset, content.length), Buffer.alloc(over === 0 ? 0 : BLOCK - over)];
}

interface TarHeader {
	readonly name: Buffer;
	readonly target: Buffer;
	readonly mode: number;
	readonly uid: number;
	readonly gid: number;
	readonly size: number;
	readonly type: string;
}

function header({ name, target, mode, uid, gid, size, type }: TarHeader): Buffer {
	const block = Buffer.alloc(BLOCK);
	const octal = (value: number, at: number, length: number) => block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
	name.copy(block, 0, 0, NAME);
	octal(mode & 0o7777, 100, 8);
	octal(uid, 108, 8);
	octal(gid, 116, 8);
	octal(size, 124, 12);
	octal(Math.floor(Date.now() / 1000), 136, 12);
	block.write("        ", 148, "latin1");
	block.write(type, 156, "latin1");
	target.copy(block, 157, 0, NAME);
	block.write("ustar  \0", 257, "latin1"); // GNU's own spelling, required with its long names
	octal(
		block.reduce((sum, byte) => sum + byte, 0),
		148,
		7,
	);
	return block;
}
