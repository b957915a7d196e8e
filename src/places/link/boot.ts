/** Starts a remote end: a remote shell reads one line from us, and that line reads our script. docs/link.md. */
import fs from "node:fs";
import { asset, shellQuote } from "../../base/index.js";

/**
 * The command for the host's shell. No newline, no `!` and no `$(`: bash, dash, ash, zsh, tcsh and fish understand it alike. A script on the
 * stdin of a plain sh would not do, since shells read ahead.
 */
export const BOOT = `exec sh -c 'read -r x; eval "$x"'`;

/**
 * Defines the function that reads a number of bytes from stdin: one read if dd supports it; else byte by byte, because what follows must stay in the
 * stream.
 */
export const TAKE =
	"link_take() { if dd if=/dev/null bs=1 count=0 iflag=fullblock 2>/dev/null; then dd bs=$1 count=1 iflag=fullblock 2>/dev/null; else dd bs=1 count=$1 2>/dev/null; fi; }";

const textOf = (name: string): Buffer => fs.readFileSync(asset(`places/link/${name}`));
let texts: { readonly sh: Buffer; readonly pl: Buffer } | undefined;

export interface Boot {
	readonly mark: string;
	readonly dir: string;
	readonly name: string;
	readonly idleSeconds: number;
	readonly perl: boolean;
	/** The same field of the stream. */
	readonly delays: boolean;
}

/** The first that is sent. The mark is written in two halves, so that an echo of this line is not taken for the answer. */
export function bootText({ mark, dir, name, idleSeconds, perl, delays }: Boot): Buffer {
	texts ??= { sh: textOf("link.sh"), pl: textOf("link.pl") };
	const { sh, pl } = texts;
	const first = [
		`link_mark="${mark.slice(0, 2)}""${mark.slice(2)}"`,
		`link_asked=${shellQuote(dir)}`,
		`link_name=${shellQuote(name)}`,
		`link_idle=${idleSeconds}`,
		`link_delays=${delays ? 1 : ""}`,
		TAKE,
		`link_perl=$(link_take ${pl.length})`,
		...(perl ? [] : ["link_perl="]),
		`eval "$(link_take ${sh.length})"`,
	];
	return Buffer.concat([Buffer.from(`${first.join("; ")}\n`), pl, sh]);
}
