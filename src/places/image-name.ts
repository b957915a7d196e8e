/** Checks names of images, and directories in containers. */

// The grammar of distribution/reference; an id of an image (sha256:…) is one too.
const HOST = /^(?:\[[0-9a-fA-F:]+\]|(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*)(?::\d{1,5})?$/;
const COMPONENT = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;

/** Returns what is wrong with the name of an image, in words; undefined when nothing is. */
export function imageProblem(image: string): string | undefined {
	if (image === "") return "the name of the image is missing";
	if (image.length > 500) return "the name of the image is too long";
	if (/^sha256:[0-9a-f]{64}$/.test(image)) return undefined;
	const [name, digest, ...more] = image.split("@") as [string, ...string[]];
	if (more.length > 0) return "there is more than one @ in the name of the image";
	if (digest !== undefined && !DIGEST.test(digest)) return `${JSON.stringify(digest)} is not a digest such as sha256:… with 64 digits`;
	const slash = name.indexOf("/");
	const first = name.slice(0, Math.max(slash, 0));
	const hasHost = slash > 0 && (/[.:[]/.test(first) || first === "localhost");
	if (hasHost && !HOST.test(first)) return `${JSON.stringify(first)} is not a registry such as ghcr.io or localhost:5000`;
	const [repository, tag, ...rest] = (hasHost ? name.slice(slash + 1) : name).split(":") as [string, ...string[]];
	if (rest.length > 0) return "there is more than one tag in the name of the image";
	if (tag !== undefined && !TAG.test(tag)) return `${JSON.stringify(tag)} is not a tag: letters, digits, _ . and -, at most 128`;
	const bad = repository.split("/").find((part) => !COMPONENT.test(part));
	if (bad === undefined) return undefined;
	if (bad === "") return "a part of the name of the image is empty";
	if (COMPONENT.test(bad.toLowerCase())) return `names of images are in lower case, ${JSON.stringify(bad)} is not`;
	return `${JSON.stringify(bad)} cannot be a part of the name of an image: lower case letters and digits, with . _ or - between them`;
}

/** Returns what is wrong with a directory in a container. */
export function directoryProblem(dir: string): string | undefined {
	if (!dir.startsWith("/")) return `must be absolute, ${JSON.stringify(dir)} is not`;
	if (/[\0\n]/.test(dir)) return "cannot contain a NUL byte or a line end";
	if (dir.split("/").includes("..")) return `cannot contain "..", as ${JSON.stringify(dir)} does`;
	return undefined;
}
