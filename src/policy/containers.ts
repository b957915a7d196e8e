/** What a container is given of this machine. */
import { is, says } from "./flags.js";
import type { Found } from "./found.js";
import { valuesOf } from "./options.js";
import { UNKNOWN, type Word } from "./word.js";

export function mountsOf(command: Found): { source: Word; writable: boolean }[] {
	if (!is(command, "docker", "podman") || !says(command, /^(?:container )?(?:run|create)\b/)) return [];
	const volumes = valuesOf(command, /^(?:-v|--volume)$/, /^(?:--volume=|-v)([^=].*)$/s);
	const mounts = valuesOf(command, /^--mount$/, /^--mount=(.+)$/s);
	return [
		...volumes.map(({ text, glob }) => ({ source: { text: text.replace(/:.*$/s, ""), glob }, writable: !/:(?:\w+,)*ro\b/.test(text) })),
		...mounts.map(({ text, glob }) => ({
			source: { text: /(?:^|,)(?:source|src)=([^,]*)/.exec(text)?.[1] ?? UNKNOWN, glob },
			writable: !/(?:^|,)(?:ro|readonly)\b/.test(text),
		})),
	].filter(({ source }) => source.text.includes("/") || source.text.startsWith("."));
}
