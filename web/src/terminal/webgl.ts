/** Paint with WebGL where it is fast. Without it, or when it is lost, xterm.js goes on with elements of the page. */
import { WebglAddon } from "@xterm/addon-webgl";
import type { Terminal } from "@xterm/xterm";

export function paintWithWebgl(terminal: Terminal): void {
	if (!isFast()) return;
	try {
		const webgl = new WebglAddon();
		webgl.onContextLoss(() => webgl.dispose());
		terminal.loadAddon(webgl);
	} catch {
		// no WebGL here after all
	}
}

let fast: boolean | undefined;

/** Drawn by the processor it is slower than elements, and a key waits for the picture of the one before. */
function isFast(): boolean {
	if (fast === undefined) {
		const context = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
		const about = context?.getExtension("WEBGL_debug_renderer_info");
		// Some browsers do not count it as a caveat that the processor does it all.
		fast = context !== null && !(about && /swiftshader|llvmpipe|software/i.test(String(context.getParameter(about.UNMASKED_RENDERER_WEBGL))));
		context?.getExtension("WEBGL_lose_context")?.loseContext(); // a page may have only a few
	}
	return fast;
}
