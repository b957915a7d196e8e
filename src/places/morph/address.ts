/** `morph://SNAPSHOT[//DIR]`. */
import { HoldfastError } from "../../base/index.js";
import { directoryProblem } from "../image-name.js";

export interface MorphAddress {
	readonly snapshot?: string | undefined;
	/** Where a new shell starts. */
	readonly workdir?: string | undefined;
}

const SCHEME = /^morph:\/\//i;

export const isMorphAddress = (text: string): boolean => SCHEME.test(text);

/** Returns what is wrong with the id of a snapshot, in words. */
export const snapshotProblem = (text: string): string | undefined =>
	/^[A-Za-z0-9][\w-]{0,199}$/.test(text)
		? undefined
		: text === ""
			? "the snapshot is missing"
			: `${JSON.stringify(text.slice(0, 100))} is not the id of a snapshot`;

export function parseMorphAddress(text: string): MorphAddress {
	const refuse = (why: string): never => {
		throw new HoldfastError(
			"INVALID",
			`${JSON.stringify(text.slice(0, 200))} is not a place of Morph: ${why}; write morph://SNAPSHOT, for example morph://snapshot_a1b2c3d4`,
		);
	};
	const [snapshot, ...dirs] = text.replace(SCHEME, "").split("//") as [string, ...string[]];
	const wrong = snapshotProblem(snapshot);
	if (wrong !== undefined) return refuse(wrong);
	const workdir = dirs.length > 0 ? `/${dirs.join("/")}` : undefined;
	const wrongDir = workdir === undefined ? undefined : directoryProblem(workdir);
	if (wrongDir !== undefined) return refuse(`the directory behind // ${wrongDir}`);
	return { snapshot, ...(workdir !== undefined && { workdir }) };
}

export const morphAddress = ({ snapshot = "", workdir }: MorphAddress): string => `morph://${snapshot}${workdir === undefined ? "" : `/${workdir}`}`;
