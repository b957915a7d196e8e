/**
 * Descriptors that this program was started with and that its children must not get: a lock of the caller's script, the pipe of its `$(…)`, a directory
 * outside of the sandbox. Node opens all of its own close-on-exec, and at its start marks those it finds up to the first unused number above 15;
 * the others would pass through every program that we start. Nothing in Node can mark or close them for a child, but a child can be given /dev/null under the same number.
 */
import type { IOType } from "node:child_process";
import fs from "node:fs";
import { namesIn } from "./files.js";
import { readProc } from "./proc.js";

const CLOEXEC = 0o2000000;

let found: { readonly numbers: readonly number[]; readonly nothing: number } | undefined;

/** Returns the option `stdio` of spawn: the first three as given, and /dev/null in place of every inherited descriptor. */
export function onlyThese(...first: readonly [IOType | number, IOType | number, IOType | number]): (IOType | number)[] {
	found ??= look(); // once: a descriptor can only be inherited at the start
	const stdio: (IOType | number)[] = [...first];
	for (const number of found.numbers) {
		while (stdio.length < number) stdio.push("ignore"); // for Node: leave this one alone
		stdio.push(found.nothing);
	}
	return stdio;
}

function look(): NonNullable<typeof found> {
	const numbers = namesIn("/proc/self/fd")
		.map(Number)
		.filter((number) => number > 2 && isInherited(number))
		.sort((a, b) => a - b);
	return { numbers, nothing: numbers.length > 0 ? fs.openSync("/dev/null", "r+") : -1 };
}

/** Whether a child would get it. */
function isInherited(number: number): boolean {
	const flags = /^flags:\s*([0-7]+)/m.exec(readProc(`/proc/self/fdinfo/${number}`) ?? "")?.[1];
	return flags !== undefined && (Number.parseInt(flags, 8) & CLOEXEC) === 0;
}
