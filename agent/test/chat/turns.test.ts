/** What a person does while the agent works: interrupt, steer, queue, take back, leave, or lose the program. */
import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { openAgentHome } from "../../src/base/index.js";
import { Log, listSessions } from "../../src/talk/index.js";
import { modelServer } from "../model-server/index.js";
import { until } from "../support/dirs.js";
import { obeys } from "../support/obeys.js";
import { configFor, newWorld, sit, type World } from "../support/seat.js";

const entriesOf = (world: World) => {
	const home = openAgentHome(world.env.HOLDFAST_AGENT_HOME as string);
	const [session] = listSessions(home);
	return Log.read(home, session?.id ?? "").entries;
};

/** Whether a process with this argument is there. */
const runs = (mark: string): boolean =>
	fs.readdirSync("/proc").some((pid) => {
		if (!/^\d+$/.test(pid)) return false;
		try {
			return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(mark);
		} catch {
			return false; // gone meanwhile
		}
	});

describe("while the agent works", () => {
	it("Esc stops a stream and a command: the text so far is kept, the command's tree is gone, its shell is not", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		const seat = await sit(world, []);
		await seat.shows("new conversation");
		await seat.type("slow one<ENTER>");
		await seat.shows(/A slow answer[\s\S]*writing/);
		await seat.type("<ESC>");
		await seat.shows(/\nStopped|interrupted|stopped/i);
		expect(await seat.screen()).not.toContain("Esc interrupts\n");
		expect(entriesOf(world).find(({ t }) => t === "partial")).toMatchObject({ why: "interrupted", text: expect.stringContaining("A slow answer") });

		await seat.type("twice MARK=here; sleep 600.25<ENTER>");
		await until("the command runs", () => runs("600.25"));
		await seat.type("<ESC>");
		await seat.shows("not run");
		await until("its tree is gone", () => !runs("600.25"));
		await seat.type("run echo still $MARK<ENTER>");
		const shown = await seat.shows("Done: [exited, exit code 0] / still here");
		expect(shown.match(/▸ \$ echo second\n +not run\n/g)).toHaveLength(1);
		expect(shown.match(/not run/g)).toHaveLength(1);
		const results = entriesOf(world).flatMap((entry) => (entry.t === "result" ? [entry] : []));
		expect(results.map(({ text, how }) => [how, text.split("\n")[0]])).toEqual([
			["ran", expect.stringMatching(/interrupted.*130/)],
			["skipped", expect.stringContaining("Not run")],
			["ran", "[exited, exit code 0]"],
		]);
	});

	it("Enter tells it something at once, Alt+Enter afterwards, and Up takes back what waits", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		const seat = await sit(world, []);
		await seat.shows("new conversation");
		await seat.type("run echo begun; sleep 1000.5<ENTER>");
		await until("the command runs", () => runs("1000.5"));
		await seat.type("for later<ALT+ENTER>");
		await seat.shows("waits: for later");
		await seat.type("<UP>");
		expect(await seat.shows(/› for later/)).not.toContain("waits:");
		await seat.type(" too<ALT+ENTER>");
		await seat.shows("waits: for later too");
		await seat.type("now this<ENTER>");
		const shown = await seat.shows("You said: for later too");
		expect(shown.indexOf("You said: now this")).toBeGreaterThan(0);
		expect(runs("1000.5")).toBe(true); // it goes on in the background
		const results = entriesOf(world).flatMap((entry) => (entry.t === "result" ? [entry] : []));
		expect(results).toMatchObject([{ how: "ran", process: expect.stringMatching(/^proc_/), text: expect.stringContaining("running") }]);
		await seat.type("<CTRL+C>");
		await seat.shows("Ctrl-C again leaves");
		await seat.type("<CTRL+C>");
		expect(await seat.ended()).toBe(130);
		expect(await seat.screen()).toMatch(/1 process goes on:\n +proc_\S+ echo begun; sleep 1000\.5/);
		expect(runs("1000.5")).toBe(true);
	});

	it("a chat that was killed goes on where it was, with the true result of its command", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		const seat = await sit(world, []);
		await seat.shows("new conversation");
		await seat.type(`run echo $$; until [ -e go ]; do sleep 0.1; done; echo went; exit 7<ENTER>`);
		await seat.shows(/▸ \$ echo[\s\S]*Esc interrupts/);
		await until("the shell has begun the command", () => fs.existsSync(`${world.env.HOLDFAST_HOME}`) && runs("0.1"));
		const [pid] = fs.readdirSync("/proc").filter((name) => {
			try {
				return (
					/^\d+$/.test(name) &&
					fs.readFileSync(`/proc/${name}/environ`, "utf8").includes(`HOLDFAST_AGENT_HOME=${world.env.HOLDFAST_AGENT_HOME}\0`) &&
					fs.readFileSync(`/proc/${name}/cmdline`, "utf8").includes("cli/main.js")
				);
			} catch {
				return false;
			}
		});
		process.kill(Number(pid), "SIGKILL");
		await seat.ended();
		fs.writeFileSync(`${world.work}/go`, "");
		const next = await sit(world, ["--continue"]);
		await next.shows("The turn that was cut short goes on");
		const shown = await next.shows("Done: [exited, exit code 7]");
		expect(shown).toMatch(/goes on; one call had no result\.\n+▸ \$ echo \$\$; until[^\n]*\n(?:[^\n▸]*\n)? +\[exited, exit code 7\]/);
		expect(server.requests).toHaveLength(2);
		expect(server.requests[1]?.results[0]?.text).toMatch(/\d+\nwent/);
		await next.type("<UP>");
		await next.shows(/› run echo/); // the history is there too
	});
});
