/** `apptainer://IMAGE[//DIR]`: an image of a registry, as in `docker://`, or the absolute path of a SIF file. */
import { HoldfastError } from "../../base/index.js";
import { directoryProblem, imageProblem } from "../image-name.js";

export interface ApptainerAddress {
	readonly image?: string | undefined;
	/** Where a new shell starts. */
	readonly workdir?: string | undefined;
}

const SCHEME = /^apptainer:\/\//i;
const SCHEMED = /^([a-z]+):\/\//i;
const EXAMPLE = "write apptainer://IMAGE, for example apptainer://debian:12, or apptainer:///data/tools.sif";

export const isApptainerAddress = (text: string): boolean => SCHEME.test(text);

export function parseApptainerAddress(text: string): ApptainerAddress {
	const refuse = (why: string): never => {
		throw new HoldfastError("INVALID", `${JSON.stringify(text.slice(0, 200))} is not a place of Apptainer: ${why}; ${EXAMPLE}`);
	};
	// Accepts Apptainer's own spelling of registry images.
	const rest = text.replace(SCHEME, "").replace(/^docker:\/\//i, "");
	const other = SCHEMED.test(rest);
	const [image, ...dirs] = (other ? [rest] : rest.split("//")) as [string, ...string[]];
	const wrong = sourceProblem(image);
	if (wrong !== undefined) return refuse(wrong);
	const workdir = dirs.length > 0 ? `/${dirs.join("/")}` : undefined;
	const wrongDir = workdir === undefined ? undefined : directoryProblem(workdir);
	if (wrongDir !== undefined) return refuse(`the directory behind // ${wrongDir}`);
	return { image, ...(workdir !== undefined && { workdir }) };
}

export const apptainerAddress = ({ image = "", workdir }: ApptainerAddress): string => `apptainer://${image}${workdir === undefined ? "" : `/${workdir}`}`;

export const isFile = (image: string): boolean => image.startsWith("/");

/** Returns what is wrong with the source of an instance; undefined if nothing is. */
export function sourceProblem(image: string): string | undefined {
	if (image === "") return "the image is missing";
	const other = SCHEMED.exec(image)?.[1];
	if (other !== undefined)
		return `images are taken from registries and SIF files, not from ${other}://; run: apptainer pull tools.sif ${image.slice(0, 100)}, and name the file`;
	if (!isFile(image)) return imageProblem(image);
	if (/[\0-\x1f\x7f:]/.test(image) || image.length > 4_096) return "the path of a SIF file cannot contain a colon or a control character";
	return undefined;
}
