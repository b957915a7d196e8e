/** Moves a shell whose directory was removed to the nearest existing parent before it gets its next line. */
import { shellQuote } from "../../base/index.js";
import type { From } from "../line.js";

/**
 * Returns shell text for its process directory; nothing is forked unless the directory has changed. Prints the new directory, and writes it to the
 * file `note`.
 */
export function leaveRemoved({ pid, cwd, go }: From, note: string): string {
	return `[ /proc/${pid}/cwd -ef ${shellQuote(cwd)} ] || case $(readlink /proc/${pid}/cwd) in *' (deleted)')
	d=${shellQuote(cwd)}; while d=\${d%/*}; [ -n "$d" ] && ! { [ -d "$d" ] && [ -x "$d" ]; }; do :; done
	printf '%s\\0' "\${d:-/}" >shell/go; printf %s "\${d:-/}" >${note}; printf %s ${shellQuote(go)} 1<>in; printf %s "\${d:-/}";;
esac`;
}
