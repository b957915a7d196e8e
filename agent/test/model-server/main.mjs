#!/usr/bin/env node
// The scripted model server, to be talked to by hand: `node agent/test/model-server/main.mjs [PORT]`. It says what it was told, or runs what follows "run ".
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const { module } = await runnerImport(fileURLToPath(new URL("index.ts", import.meta.url)));
const script = ({ said, results, tools }) => {
	if (results.length > 0) return `It says:\n\n${results.map(({ text }) => `    ${text.trim().replaceAll("\n", "\n    ")}`).join("\n\n")}`;
	const probed = /^Call the tool `(\w+)` with the word `(\w+)`/.exec(said); // what `setup` tries
	if (probed && tools.includes(probed[1])) return module.calls([probed[1], { word: probed[2] }]);
	const command = /^run (.+)/s.exec(said)?.[1];
	return command && tools.includes("terminal") ? module.calls(["terminal", { command }]) : `You said: ${said}`;
};
const server = await module.modelServer({ script, port: Number(process.argv[2] ?? 0), models: [{ id: "scripted", window: 128_000 }] });
console.log(`chat, responses and anthropic at ${server.url}, model "scripted"; Ctrl-C ends it`);
