/** A shell whose directory was removed goes to the nearest one above it before it is told anything else. */
import { shellQuote } from "../../base/index.js";
import type { From } from "../line.js";

/** Shell text for its process directory; nothing is forked unless the directory is not what it was. Prints where it went, and leaves that in the file `note`. */
export function leaveRemoved({ pid, cwd, go }: From, note: string): string {
	return `[ /proc/${pid}/cwd -ef ${shellQuote(cwd)} ] || case $(readlink /proc/${pid}/cwd) in *' (deleted)')
	d=${shellQuote(cwd)}; while d=\${d%/*}; [ -n "$d" ] && ! { [ -d "$d" ] && [ -x "$d" ]; }; do :; done
	printf '%s\\0' "\${d:-/}" >shell/go; printf %s "\${d:-/}" >${note}; printf %s ${shellQuote(go)} 1<>in; printf %s "\${d:-/}";;
esac`;
}
