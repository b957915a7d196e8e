/** `modal://IMAGE[//DIR]`: an image of a registry, or one of Modal by its id (`im-…`). */
import { HoldfastError } from "../../base/index.js";
import { directoryProblem, imageProblem } from "../image-name.js";

export interface ModalAddress {
	readonly image?: string | undefined;
	/** Where a new shell starts. */
	readonly workdir?: string | undefined;
}

const SCHEME = /^modal:\/\//i;

export const isModalAddress = (text: string): boolean => SCHEME.test(text);

export const isImageId = (image: string): boolean => /^im-[A-Za-z0-9]{4,100}$/.test(image);

export const modalImageProblem = (image: string): string | undefined => (isImageId(image) ? undefined : imageProblem(image));

export function parseModalAddress(text: string): ModalAddress {
	const refuse = (why: string): never => {
		throw new HoldfastError(
			"INVALID",
			`${JSON.stringify(text.slice(0, 200))} is not a place of Modal: ${why}; write modal://IMAGE, for example modal://debian:12`,
		);
	};
	const [image, ...dirs] = text.replace(SCHEME, "").split("//") as [string, ...string[]];
	const wrong = modalImageProblem(image);
	if (wrong !== undefined) return refuse(wrong);
	const workdir = dirs.length > 0 ? `/${dirs.join("/")}` : undefined;
	const wrongDir = workdir === undefined ? undefined : directoryProblem(workdir);
	if (wrongDir !== undefined) return refuse(`the directory behind // ${wrongDir}`);
	return { image, ...(workdir !== undefined && { workdir }) };
}

export const modalAddress = ({ image = "", workdir }: ModalAddress): string => `modal://${image}${workdir === undefined ? "" : `/${workdir}`}`;
