/** `kubernetes://NAMESPACE/IMAGE[//DIR]`; without a namespace (`kubernetes:///IMAGE`), the context's namespace. */
import { HoldfastError } from "../../base/index.js";
import { directoryProblem, imageProblem } from "../image-name.js";

export interface KubernetesAddress {
	readonly namespace?: string | undefined;
	readonly image?: string | undefined;
	/** Where a new shell starts. */
	readonly workdir?: string | undefined;
}

const SCHEME = /^kubernetes:\/\//i;

export const isKubernetesAddress = (text: string): boolean => SCHEME.test(text);

/** Returns what is wrong with a name of the API, in words. */
export const nameProblem = (text: string): string | undefined =>
	/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(text) ? undefined : `is lower case letters, digits, - and ., not ${JSON.stringify(text.slice(0, 100))}`;

export function parseKubernetesAddress(text: string): KubernetesAddress {
	const refuse = (why: string): never => {
		throw new HoldfastError(
			"INVALID",
			`${JSON.stringify(text.slice(0, 200))} is not a place of Kubernetes: ${why}; write kubernetes://NAMESPACE/IMAGE, for example kubernetes://dev/debian:12`,
		);
	};
	const [first, ...dirs] = text.replace(SCHEME, "").split("//") as [string, ...string[]];
	const slash = first.indexOf("/");
	if (slash < 0) return refuse("the image is missing behind the namespace");
	const [namespace, image] = [first.slice(0, slash), first.slice(slash + 1)];
	const wrong = (namespace === "" ? undefined : nameProblem(namespace)) ?? imageProblem(image);
	if (wrong !== undefined) return refuse(wrong.startsWith("is ") ? `a namespace ${wrong}` : wrong);
	const workdir = dirs.length > 0 ? `/${dirs.join("/")}` : undefined;
	const wrongDir = workdir === undefined ? undefined : directoryProblem(workdir);
	if (wrongDir !== undefined) return refuse(`the directory behind // ${wrongDir}`);
	return { ...(namespace !== "" && { namespace }), image, ...(workdir !== undefined && { workdir }) };
}

export const kubernetesAddress = ({ namespace = "", image = "", workdir }: KubernetesAddress): string =>
	`kubernetes://${namespace}/${image}${workdir === undefined ? "" : `/${workdir}`}`;
