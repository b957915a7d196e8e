/**
 * `docker://IMAGE[//DIR]`, and `docker://container=NAME[//DIR]` for an existing container. An image name may contain single
 * slashes but never two, so two slashes precede a directory; it never contains an equals sign.
 */
import { HoldfastError } from "../../base/index.js";
import { directoryProblem, imageProblem } from "../image-name.js";

export const DEFAULT_IMAGE = "nikolaik/python-nodejs:python3.11-nodejs20";

export interface DockerAddress {
	readonly image?: string | undefined;
	/** An existing container. */
	readonly container?: string | undefined;
	/** Where a new shell starts. */
	readonly workdir?: string | undefined;
}

const SCHEME = "docker://";
const CONTAINER = "container=";

export function parseDockerAddress(text: string): DockerAddress {
	const refuse = (why: string): never => {
		throw new HoldfastError(
			"INVALID",
			`${JSON.stringify(text.slice(0, 200))} is not a Docker place: ${why}; write docker://IMAGE, for example docker://debian:12`,
		);
	};
	if (text.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return refuse("it does not begin with docker://");
	const [image, ...rest] = text.slice(SCHEME.length).split("//") as [string, ...string[]];
	const container = image.startsWith(CONTAINER) ? image.slice(CONTAINER.length) : undefined;
	const wrong = container !== undefined ? containerProblem(container) : image === "" ? undefined : imageProblem(image);
	if (wrong !== undefined) return refuse(wrong);
	const workdir = rest.length > 0 ? `/${rest.join("/")}` : undefined;
	const wrongDir = workdir === undefined ? undefined : directoryProblem(workdir);
	if (wrongDir !== undefined) return refuse(`the directory behind // ${wrongDir}`);
	return { ...(container === undefined ? { image: image || DEFAULT_IMAGE } : { container }), ...(workdir !== undefined && { workdir }) };
}

export const dockerAddress = ({ image = DEFAULT_IMAGE, container, workdir }: DockerAddress): string =>
	`${SCHEME}${container === undefined ? image : `${CONTAINER}${container}`}${workdir === undefined ? "" : `/${workdir}`}`;

/** Returns what is wrong with the name or id of a container. */
export function containerProblem(name: string): string | undefined {
	if (name === "") return "the name of the container is missing";
	return /^[a-zA-Z0-9][\w.-]{0,254}$/.test(name) ? undefined : `${JSON.stringify(name.slice(0, 100))} is not a name or an id of a container`;
}
