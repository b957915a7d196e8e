/** `slurm://PARTITION[//DIR]`; without a partition, the cluster's default. */
import { HoldfastError } from "../../base/index.js";
import { directoryProblem } from "../image-name.js";

export interface SlurmAddress {
	readonly partition?: string | undefined;
	/** Where a new shell starts. */
	readonly workdir?: string | undefined;
}

const SCHEME = /^slurm:\/\//i;

export const isSlurmAddress = (text: string): boolean => SCHEME.test(text);

export function parseSlurmAddress(text: string): SlurmAddress {
	const refuse = (why: string): never => {
		throw new HoldfastError(
			"INVALID",
			`${JSON.stringify(text.slice(0, 200))} is not a place of Slurm: ${why}; write slurm://PARTITION, or slurm:// for the default one`,
		);
	};
	const [partition, ...dirs] = text.replace(SCHEME, "").split("//") as [string, ...string[]];
	if (partition !== "" && !/^[\w.+,-]{1,200}$/.test(partition)) return refuse("the name of the partition has characters in it that none has");
	const workdir = dirs.length > 0 ? `/${dirs.join("/")}` : undefined;
	const wrong = workdir === undefined ? undefined : directoryProblem(workdir);
	if (wrong !== undefined) return refuse(`the directory behind // ${wrong}`);
	return { ...(partition !== "" && { partition }), ...(workdir !== undefined && { workdir }) };
}

export const slurmAddress = ({ partition = "", workdir }: SlurmAddress): string => `slurm://${partition}${workdir === undefined ? "" : `/${workdir}`}`;
