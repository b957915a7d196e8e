import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { calls, type Script, say } from "../model-server/index.js";
import { bench } from "./support.js";

const FIXTURE = fileURLToPath(new URL("../tools/fixtures/mcp-server.mjs", import.meta.url));
const config = { toolsets: ["fix"], mcpServers: { fix: { command: process.execPath, args: [FIXTURE], tools: ["add", "big", "die"] } } };

it("calls tools of an MCP server, reads back what was shortened, and goes on when the server dies", async () => {
	const script: Script = ({ n, results }) => {
		if (n === 1) return calls(["fix__add", { a: 2, b: 3 }], ["fix__big", { lines: 3_000 }], ["fix__die", {}], ["fix__add", { a: 4, b: 4 }]);
		if (n > 2) return say("Done.");
		const [, call, offset] = /recall\(call="([^"]+)", offset=(\d+)/.exec(results[1]?.text ?? "") as unknown as [string, string, string];
		return calls(["recall", { call, offset: Number(offset), limit: 2 }]);
	};
	await using on = await bench(script);
	const talk = await on.open({ config });
	expect(talk.it.tools).toEqual(["fix__add", "fix__die", "fix__big", "recall"]);
	expect(await talk.say("go")).toMatchObject({ why: "answered" });
	const texts = talk.it.log.entries.flatMap((entry) => (entry.t === "result" ? [entry.text] : []));
	const [, offset] = /offset=(\d+), limit/.exec(texts[1] as string) as unknown as [string, string];
	expect(texts).toEqual([
		"5",
		expect.stringMatching(/^0 abc[\s\S]*left out; recall\(call="[^"]+", offset=\d+, limit=\d+\) shows them\]/),
		expect.stringContaining("was gone before it answered"),
		"8",
		expect.stringMatching(new RegExp(`^${offset} .*\\n${Number(offset) + 1} .*\\n\\n\\[\\d+ more characters: recall\\(`)),
	]);
});

it("goes on without a server that cannot be started, and says why", async () => {
	await using on = await bench([calls(["gone__tool", {}]), say("Without it.")]);
	const talk = await on.open({ config: { toolsets: ["todo", "gone"], mcpServers: { gone: { command: "no-such-program" } } } });
	expect(await talk.say("go")).toMatchObject({ why: "answered" });
	expect(talk.it.log.entries.find(({ t }) => t === "result")).toMatchObject({
		failed: true,
		text: 'Error: the tool "gone__tool" cannot be used, nothing was done. gone off: no-such-program is not installed (install it, or change mcpServers.gone.command). There are todo, recall.',
	});
});
