/** The parts of this machine that a container is given. */
import { is, says } from "./flags.js";
import type { FoundCommand } from "./found.js";
import type { Inner } from "./inner.js";
import { valuesOf } from "./options.js";
import { skip } from "./shapes.js";
import { UNKNOWN, type Word } from "./word.js";

interface Mount {
	readonly source: Word;
	/** Its path in the container. */
	readonly target: string;
	readonly writable: boolean;
}

export function mountsOf(command: FoundCommand): Mount[] {
	if (!is(command, "docker", "podman") || !says(command, /^(?:container )?(?:run|create)\b/)) return [];
	const volumes = valuesOf(command, /^(?:-v|--volume)$/, /^(?:--volume=|-v)([^=].*)$/s);
	const mounts = valuesOf(command, /^--mount$/, /^--mount=(.+)$/s);
	return [
		...volumes.map(({ text, glob }) => ({
			source: { text: text.replace(/:.*$/s, ""), glob },
			target: text.split(":")[1] ?? "",
			writable: !/:(?:\w+,)*ro\b/.test(text),
		})),
		...mounts.map(({ text, glob }) => ({
			source: { text: /(?:^|,)(?:source|src)=([^,]*)/.exec(text)?.[1] ?? UNKNOWN, glob },
			target: /(?:^|,)(?:target|dst|destination)=([^,]*)/.exec(text)?.[1] ?? "",
			writable: !/(?:^|,)(?:ro|readonly)\b/.test(text),
		})),
	].filter(({ source }) => source.text.includes("/") || source.text.startsWith("."));
}

const RUN = {
	valued: "vewpuhlmcat",
	long: ["--volume", "--mount", "--env", "--env-file", "--workdir", "--publish", "--user", "--name", "--network", "--entrypoint", "--platform"],
};

/** Returns the command of a container that may write to a directory outside the work, with the paths of this machine. All other paths are the container's own. */
export function runsOnMounts(command: FoundCommand): Inner[] {
	const at = command.args.findIndex(({ text }) => text === "run");
	const isOutside = ({ text }: Word) => text.startsWith("/") && !command.cwds.some((cwd) => cwd !== null && (text === cwd || text.startsWith(`${cwd}/`)));
	const mounts = at === -1 ? [] : mountsOf(command).filter(({ source, target, writable }) => writable && target.startsWith("/") && isOutside(source));
	if (mounts.length === 0) return [];
	const [, ...argv] = skip(command.args.slice(at + 1), RUN);
	if (argv.length === 0) return [];
	const here = (text: string) =>
		text.replace(/(^|[\s'"=;&|(])(\/[^\s'";&|)]*)/g, (_, before: string, file: string) => {
			const mount = mounts.find(({ target }) => file === target || file.startsWith(target.endsWith("/") ? target : `${target}/`));
			return before + (mount ? mount.source.text + file.slice(mount.target.length) : `/tmp/container${file}`);
		});
	return [{ argv: argv.map((one) => ({ ...one, text: here(one.text) })) }];
}
