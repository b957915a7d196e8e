/** The chat as a person has it, on a real terminal. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { modelServer } from "../model-server/index.js";
import { obeys } from "../support/obeys.js";
import { configFor, newWorld, sit } from "../support/seat.js";

describe("the chat", () => {
	it("greets with five lines, shows answers as they were meant, and says how to come back", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server, { mcpServers: { browser: { command: "no-such-browser" } }, toolsets: ["terminal", "browser"] }));
		const seat = await sit(world, [], { cols: 200 });
		const banner = await seat.shows("Ctrl-D leaves");
		expect(banner.split("\n").slice(0, 5)).toEqual([
			expect.stringMatching(/^holdfast-agent \d\S* · scripted at 127\.0\.0\.1:\d+ · window 100k$/),
			expect.stringMatching(/^place local · \S+work · session (\d{8}_\d{6}_[0-9a-f]{6}) \(logs\/session_\1\.json\)$/),
			"terminal on · browser off: no-such-browser is not installed (install it, or change mcpServers.browser.command)",
			"no process runs · no question waits",
			"new conversation · /help · Esc interrupts, Ctrl-D leaves and ends nothing",
		]);
		await seat.type("hello<ENTER>");
		const shown = await seat.shows(/const x = 1;[\s\S]*tokens in/);
		for (const line of ["› hello", "Hello", "Some bold words, code and a link (https://example.org).", "• one", "name │ what", "a    │ first"])
			expect(shown).toContain(line);
		await seat.type("/model scriptd<ENTER>");
		await seat.shows(/The model is scriptd from here on\.[\s\S]*scripted does not list scriptd; did you mean scripted\?/);
		await seat.type("/model scripted<ENTER>");
		expect(await seat.shows("The model is scripted from here on.")).not.toContain("does not list scripted;");
		await seat.type("<CTRL+D>");
		expect(await seat.ended()).toBe(0);
		const [, id] = /holdfast-agent --resume (\S+) goes on from here/.exec(await seat.screen()) ?? [];
		expect(JSON.parse(fs.readFileSync(world.file(`logs/session_${id}.json`), "utf8"))).toMatchObject({ session_id: id, message_count: 2 });
	});

	it("asks what the model wants to know in place, and keeps what was being typed", async () => {
		await using server = await modelServer({ script: obeys });
		const seat = await sit(newWorld(configFor(server)), []);
		await seat.shows("new conversation");
		await seat.type("ask me<ENTER>half a thou");
		await seat.shows(/1\. db1\n +2\. db2[\s\S]*1-2, or your own words:/);
		await seat.type("2<ENTER>");
		const shown = await seat.shows("Done: The user answers: db2");
		expect(shown).toContain("› half a thou");
		await seat.type("ght<ENTER>");
		await seat.shows("You said: half a thought");
		await seat.type("plan it<ENTER>");
		await seat.shows(/1\. \[x\] look\n +2\. \[>\] mend/);
		await seat.type("/todo<ENTER>");
		await seat.shows(/\[x\] look\n\[>\] mend/);
		expect(server.requests[1]?.results[0]?.text).toBe("The user answers: db2");
	});

	it("runs the person's own commands in the agent's shell, and tells the model only with !!", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		fs.mkdirSync(path.join(world.work, "inner"));
		const seat = await sit(world, []);
		await seat.shows("new conversation");
		await seat.type("!cd inner; echo in-$((40 + 2)); false<ENTER>");
		await seat.shows(/! cd inner; echo[\s\S]*\nin-42\n\[exited, exit code 1\]/);
		await seat.type("run pwd<ENTER>");
		await seat.shows(/Done: \[exited, exit code 0\] \/\s+\S*inner/);
		expect(server.requests.map(({ body }) => JSON.stringify(body)).join()).not.toContain("in-42");
		await seat.type("!!echo told<ENTER>");
		await seat.shows("You said: I ran this command");
		expect(server.requests.at(-1)?.said).toContain("    echo told\n\ntold");
		await seat.type("!sleep 600<ENTER>");
		await seat.shows("sleep 600 · Esc interrupts");
		await seat.type("<ESC>");
		await seat.shows(/\[interrupted/);
		await seat.type("!vi<ENTER>");
		const told = await seat.shows(/\[running, proc_[\s\S]*in\s+a\s+window\s+of\s+its\s+own\./);
		expect(told).toMatch(/`holdfast kill\s+proc_\w+` ends it\./);
		expect(told).not.toMatch(/process\(|pty=true/);
	});

	it("has commands for everything, and finds those that are mistyped", async () => {
		await using server = await modelServer({ script: obeys, models: ["scripted", "other"] });
		const seat = await sit(newWorld(configFor(server)), [], { rows: 50 });
		await seat.shows("new conversation");
		await seat.type("first words<ENTER>");
		await seat.shows("You said: first words");
		await seat.type("/title Deploy Page<ENTER>");
		await seat.shows('It is "Deploy Page" now');
		await seat.type("/moddel<ENTER>");
		await seat.shows("there is no command /moddel; did you mean /model?");
		await seat.type("/mod<TAB>other<ENTER>");
		await seat.shows("The model is other from here on.");
		await seat.type("/new<ENTER>");
		await seat.shows(/A new conversation\. \/resume \S+ goes back\./);
		await seat.type("second words<ENTER>");
		await seat.shows("You said: second words");
		expect(server.requests.at(-1)?.model).toBe("scripted");
		await seat.type("/undo<ENTER>");
		await seat.shows("Taken back: second words");
		await seat.type("/resume deploy<ENTER>");
		await seat.shows('continues "Deploy Page" (2 messages)');
		await seat.type("third words<ENTER>");
		await seat.shows("You said: third words");
		expect(server.requests.at(-1)?.model).toBe("other");
		expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("first words");
		await seat.type("/retry<ENTER>");
		await seat.shows(/› third words[\s\S]*› third words/);
		await seat.type("/status<ENTER>");
		await seat.shows(/so far: \S+ tokens in/);
		await seat.type("/sessions<ENTER>");
		await seat.shows(/\(this one\) +"Deploy Page"/);
		await seat.type("/place ssh://nowhere.invalid<ENTER>");
		await seat.shows(/cannot reach ssh:\/\/nowhere\.invalid[\s\S]*Commands run at local\s+as\s+before\./);
		await seat.type("/interrupt<ENTER>");
		await seat.shows("a message that comes while the agent works stops it first.");
		await seat.type("/quit<ENTER>");
		expect(await seat.ended()).toBe(0);
	});
});
