/** The script that fetches an image, on this machine or in a job of Slurm. */
import fs from "node:fs";
import { asset } from "../../base/index.js";

/** Printed before it fetches, and before it waits for another program's fetch. */
export const FETCHING = "holdfast:fetching";
export const WAITING = "holdfast:waiting";

let text: string | undefined;

/** Returns its text without comments. */
export function fetchScript(): string {
	text ??= fs.readFileSync(asset("places/apptainer/fetch.sh"), "utf8").replace(/^\s*#.*\n/gm, "");
	return text;
}

/** Returns its arguments. */
export const fetchArguments = (program: string, file: string, { image, insecure }: { readonly image: string; readonly insecure: boolean }): string[] => [
	...[program, file, `docker://${image}`],
	...(insecure ? ["--no-https"] : []),
];
