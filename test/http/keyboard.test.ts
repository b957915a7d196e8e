/** A person takes the keyboard from an agent, and gives it back. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { problemSchema } from "../../src/doors/http/schemas.js";
import { CLI, cli, hasTmux, Terminal } from "../support/cli.js";
import { testRuntime, textOf } from "../support/home.js";
import { overApi, Viewer } from "../support/http.js";
import { connectTo } from "../support/mcp.js";

test("while a person has the keyboard an agent may read but not type, through every door; afterwards it is told what happened", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const agent = await connectTo(`${api.mcp}?task=agent`, api.token);
	const started = await agent.call("terminal", { command: 'while read -r line; do echo "<$line>"; done', pty: true });
	const { session_id } = started;
	expect(started.status).toBe("awaiting_input");
	const process = runtime.get(session_id);
	const person = await Viewer.connect(api, session_id);
	person.send({ type: "open", offset: null });
	await person.takeKeyboard();
	const taken = process.log.bounds().end;

	const refused = { status: "error", error: expect.stringContaining(`a person in the browser has taken the keyboard of ${session_id}`) };
	for (const act of [
		{ action: "write", data: "x" },
		{ action: "submit", data: "x" },
		{ action: "keys", data: "x" },
		{ action: "close" },
		{ action: "signal", signal: "INT" },
		{ action: "resize", cols: 10, rows: 10 },
		{ action: "kill" },
	])
		expect(await agent.call("process", { session_id, ...act })).toMatchObject(refused);
	expect(await agent.call("terminal", { session_id, input_keys: "x<ENTER>" })).toMatchObject(refused);
	expect(await agent.call("terminal", { input_keys: "x<ENTER>" })).toMatchObject(refused);
	expect(await runtime.process({ action: "submit", session_id, data: "x" }, { task: "agent" })).toMatchObject(refused);
	expect((await cli(runtime.home.root, ["write", session_id, "x"])).stderr).toContain("has the keyboard");
	expect(problemSchema.parse(await (await api.request("POST", `/api/processes/${session_id}/input`, { body: { data: "x" } })).json()).error.code).toBe(
		"KEYBOARD",
	);
	expect(await agent.call("process", { action: "poll", session_id })).toMatchObject({ error: null, note: expect.stringContaining("look, but leave it alone") });
	expect(process.log.bounds().end).toBe(taken); // nothing of it has reached the program

	const second = await Viewer.connect(api, session_id);
	second.send({ type: "open", offset: 0 });
	second.send({ type: "keyboard", action: "take" });
	await second.until("a refusal", () => second.last("error"));
	expect(second.last("error")).toMatchObject({ code: "KEYBOARD" });
	person.send({ type: "input", data: "from the person\r" });
	await second.until("both see it", () => second.text.includes("<from the person>"));
	await second.takeKeyboard(true);
	await person.until("it is known to be gone", () => person.last("keyboard")?.mine === false);
	person.send({ type: "input", data: "too late\r" });
	await person.until("a refusal", () => person.last("error"));
	second.socket.close(); // with its connection ends its hold

	await person.until("it is free", () => person.last("keyboard")?.keyboard === null);
	const back = await agent.call("process", { action: "keys", session_id, data: "from the agent<ENTER>" });
	expect(back).toMatchObject({ error: null, status: "awaiting_input" });
	expect(back.notices).toEqual([
		expect.objectContaining({
			kind: "keyboard",
			session_id,
			byte_offset: taken,
			text: expect.stringMatching(/is yours again: a person in the browser had it .* printed \d+ bytes \(2 lines\)/),
		}),
	]);
	expect(textOf(process)).toContain("<from the agent>");
	expect(textOf(process)).not.toMatch(/<x>|too late/);
});

test("a dead holder loses the keyboard: the agent's next call is told so, and goes through", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "cat", task: "agent", terminal: true });
	const script = `import { openAgentRuntime as openRuntime } from ${JSON.stringify(`${globalThis.process.cwd()}/dist/tools/index.js`)}; import { Keyboard } from ${JSON.stringify(`${globalThis.process.cwd()}/dist/process/keyboard.js`)};
		const runtime = await openRuntime({ home: ${JSON.stringify(runtime.home.root)}, warm: 0 }); await Keyboard.take(runtime.get("${process.id}"), { who: "somebody" }); console.log("taken"); process.kill(process.pid, "SIGKILL");`;
	expect(spawnSync(globalThis.process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }).stdout).toBe("taken\n");
	const result = await runtime.process({ action: "submit", session_id: process.id, data: "hello" }, { task: "agent" });
	expect(result).toMatchObject({ error: null, bytes_written: 6, notices: [{ kind: "keyboard", text: expect.stringContaining("somebody had it") }] });
	expect((await runtime.process({ action: "poll", session_id: process.id }, { task: "agent" })).notices).toBeUndefined();
});

test.skipIf(!hasTmux)("a person at `holdfast attach` takes it with the first key, and gives it back on leaving", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: 'while read -r line; do echo "<$line>"; done', task: "agent", terminal: true });
	const submit = (data: string) => runtime.process({ action: "submit", session_id: process.id, data }, { task: "agent" });
	const terminal = new Terminal(`${globalThis.process.execPath} ${CLI} attach ${process.id}`, { HOLDFAST_HOME: runtime.home.root });
	await process.wait({ until: { silence: 0.1 } });
	expect(await submit("one")).toMatchObject({ error: null });
	await terminal.shows("<one>"); // to look is not to take
	await terminal.type("two", "Enter");
	await terminal.shows("<two>");
	expect(await submit("three")).toMatchObject({ error: expect.stringContaining("a person at `holdfast attach` has taken the keyboard") });
	await terminal.type("C-]");
	await terminal.shows("detached");
	expect(await submit("four")).toMatchObject({ error: null, notices: [{ kind: "keyboard" }] });
});

test("a password that is typed while echo is off is found nowhere", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const agent = await connectTo(`${api.mcp}?task=agent`, api.token);
	const { session_id } = await agent.call("terminal", { command: "read -rsp 'Password: ' p; echo; [ ${#p} = 19 ] && echo right; cat", pty: true });
	const person = await Viewer.connect(api, session_id);
	person.send({ type: "open", offset: null });
	await person.takeKeyboard();
	const secret = "hunter2-Tr0ub4dor&3";
	for (const key of secret) person.send({ type: "input", data: key });
	person.send({ type: "input", data: "\r" });
	await person.until("it was taken", () => person.text.includes("right"));
	person.send({ type: "keyboard", action: "release" });
	await person.until("given back", () => person.last("keyboard")?.keyboard === null);
	const seen = [
		JSON.stringify(await agent.call("process", { action: "log", session_id })),
		JSON.stringify(await agent.call("process", { action: "screen", session_id })),
		await (await api.request("GET", `/api/processes/${session_id}/recording`)).text(),
		await (await api.request("GET", "/api/processes")).text(),
		JSON.stringify(person.messages) + person.text,
	].join("\n");
	expect(seen).toContain("right");
	expect(seen).not.toContain(secret);
	for (const encoded of [secret, Buffer.from(secret).toString("base64").slice(0, 24)])
		expect(spawnSync("grep", ["-rlaF", "--devices=skip", "-e", encoded, runtime.home.root], { encoding: "utf8" })).toMatchObject({ stdout: "", status: 1 });
});
