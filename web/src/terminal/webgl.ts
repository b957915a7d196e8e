/** Paint with WebGL where there is one. Without it, or when it is lost, xterm.js goes on with elements of the page. */
import { WebglAddon } from "@xterm/addon-webgl";
import type { Terminal } from "@xterm/xterm";

export function paintWithWebgl(terminal: Terminal): void {
	try {
		const webgl = new WebglAddon();
		webgl.onContextLoss(() => webgl.dispose());
		terminal.loadAddon(webgl);
	} catch {
		// no WebGL here
	}
}
