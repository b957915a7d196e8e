import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, it } from "vitest";

it("a time limit that only a composed signal holds is kept, whatever is collected meanwhile", () => {
	const module = path.resolve("dist/base/signals.js");
	const program = `
		import { anySignal } from ${JSON.stringify(module)};
		const composed = anySignal([new AbortController().signal, AbortSignal.timeout(50)]);
		gc();
		const forever = setInterval(gc, 5);
		const giveUp = setTimeout(() => process.exit(1), 30_000);
		composed.addEventListener("abort", () => { clearInterval(forever); clearTimeout(giveUp); });`;
	expect(spawnSync(process.execPath, ["--expose-gc", "--input-type=module", "-e", program]).status).toBe(0);
});
