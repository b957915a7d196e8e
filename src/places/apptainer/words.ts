/** Explains Apptainer's failures and what the user can do about them. */
import { HoldfastError } from "../../base/index.js";
import { plain } from "../child.js";
import { explain as explainNamespaces } from "../probe.js";
import type { ApptainerSettings } from "./options.js";

export const alreadyExists = (said: string): boolean => /instance \S+ already exists/.test(said);
export const noInstance = (said: string): boolean => /no instance found/.test(said);

/** Returns the last error line without its level prefix. */
export function complaint(said: string): string {
	const lines = said.split("\n").map(plain).filter(Boolean);
	const fatal = lines.filter((line) => /^(FATAL|ERROR):/.test(line) && !/while executing starter|container cleanup failed/.test(line));
	return (fatal.at(-1) ?? lines.at(-1) ?? "it said nothing").replace(/^(FATAL|ERROR|WARNING|INFO):\s*/, "").slice(0, 600);
}

const CASES: readonly (readonly [RegExp, (settings: ApptainerSettings, words: string) => string])[] = [
	[
		/cannot use cgroups|cgroups? .*(not|cannot)|systemd not running/i,
		(settings, words) => {
			const asked = (["cpus", "memory", "pids"] as const).filter((name) => settings[name] !== undefined);
			return `Apptainer cannot limit ${asked.join(", ") || "resources"} here (${words}); leave ${asked.map((name) => `"${name}"`).join(", ")} out: that takes version 2 of control groups, and systemd`;
		},
	],
	[/image format not recognized/, ({ image }) => `${image} is not an image that Apptainer can use; make one with: apptainer build FILE.sif docker://IMAGE`],
	[
		/server gave HTTP response to HTTPS client/,
		({ image }) => `the registry of ${image} does not speak TLS; set \`insecure\` to true if that is as it should be`,
	],
	[
		/manifest unknown|name unknown|requested access to the resource is denied|unauthorized|not found: manifest|404/i,
		({ image }, words) => `there is no image ${image}, or this user may not have it (${words}); check its name, or log in with: apptainer registry login`,
	],
	[
		/connection refused|no such host|i\/o timeout|network is unreachable|TLS handshake/i,
		({ image }, words) => `the registry of ${image} cannot be reached (${words})`,
	],
	[
		/Failed to create container process: No space left|max_user_namespaces/,
		(_, words) => `no more user namespaces can be made here (${words}); an administrator can raise user.max_user_namespaces`,
	],
	[
		/no space left on device|disk quota exceeded/i,
		(_, words) => `there is no room for it (${words}); name another directory with \`scratch\`, or free some space`,
	],
	[
		/requires overlay|overlay.*(not supported|kernel)|fuse-overlayfs.*not found|underlay/i,
		(_, words) => `files cannot be written to in an instance here (${words}); install fuse-overlayfs, or use a newer kernel`,
	],
	[/squashfuse|fuse device|\/dev\/fuse/i, (_, words) => `images cannot be mounted here (${words}); install squashfuse, and let this user have /dev/fuse`],
	[/user namespace|uid_map|newuidmap|Operation not permitted/i, (_, words) => explainNamespaces(words).replace(/bubblewrap|bwrap/g, "apptainer")],
];

/** Returns the error for a failed call. `doing` begins the sentence. */
export function refused(doing: string, said: string, settings: ApptainerSettings): HoldfastError {
	const words = complaint(said);
	const found = CASES.find(([pattern]) => pattern.test(said));
	const code = found !== undefined && /cannot be reached/.test(found[1](settings, "")) ? "UNREACHABLE" : "START_FAILED";
	return new HoldfastError(code, found === undefined ? `${doing}: ${words}` : found[1](settings, words));
}

export const noShell = (image: string): HoldfastError =>
	new HoldfastError("START_FAILED", `the image ${image} has no sh, and without one nothing can be run in it; choose another image`);
