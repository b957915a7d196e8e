/** Which model a conversation goes on with. */
import { testRuntime } from "holdfast/testing";
import { expect, it } from "vitest";
import { changeAgentConfig, loadAgentConfig } from "../../src/base/index.js";
import { openAgent } from "../../src/chat/index.js";
import { type ModelServer, modelServer, say } from "../model-server/index.js";
import { atEnd, tempHome } from "../support/dirs.js";
import { ME } from "../turn/support.js";

it("a conversation asks no endpoint for a model of another one; one that a person has chosen stays chosen at its endpoint", async () => {
	await using a = await modelServer({ script: () => say("from a"), models: ["alpha", "chosen"] });
	await using b = await modelServer({ script: () => say("from b"), models: ["beta"] });
	const home = tempHome();
	const runtime = await testRuntime({ task: "unused" });
	atEnd(() => runtime.close());
	const use = async (endpoint: string, model: string) => {
		const servers = { a, b } as Readonly<Record<string, ModelServer>>;
		const urls = Object.entries(servers).map(([name, { url }]) => ({ key: ["endpoints", name], value: { url, window: 100_000 } }));
		await changeAgentConfig(home, [...urls, { key: ["endpoint"], value: endpoint }, { key: ["model"], value: model }, { key: ["toolsets"], value: ["todo"] }]);
	};
	const says = async (text: string, options: { readonly resume?: true; readonly chooses?: string } = {}) => {
		const { resume, chooses } = options;
		const settings = { home, ...loadAgentConfig(home), flags: [] };
		await using agent = await openAgent({ settings, runtime, cwd: home.root, door: { name: "test", kind: "chat" }, ...(resume ? { resume } : {}) });
		if (chooses !== undefined) await agent.conversation.setModel(await agent.model(chooses));
		await agent.conversation.send(text, ME);
		expect(await agent.conversation.idle()).toMatchObject({ why: "answered" });
		return agent.conversation.log.entries.flatMap((entry) => (entry.t === "set" ? [[entry.model, entry.endpoint, entry.auto]] : []));
	};
	const asked = ({ requests }: ModelServer) => requests.map(({ model }) => model);

	await use("a", "alpha");
	expect(await says("begin")).toEqual([]);
	await use("b", "beta");
	await says("at the other", { resume: true });
	await use("a", "alpha");
	expect(await says("and back", { resume: true })).toEqual([
		["beta", "b", true],
		["alpha", "a", true],
	]);
	expect([asked(a), asked(b)]).toEqual([["alpha", "alpha"], ["beta"]]);

	await says("with another", { resume: true, chooses: "chosen" });
	await use("b", "beta");
	await says("at the other", { resume: true });
	await use("a", "alpha");
	await says("and back", { resume: true });
	expect([asked(a), asked(b)]).toEqual([
		["alpha", "alpha", "chosen", "chosen"],
		["beta", "beta"],
	]);
});
