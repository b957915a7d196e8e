/** A place that is not up yet, through the tools: no failure, not tried again blindly, found again by the next program. */
import { afterAll, expect, it } from "vitest";
import { secretName } from "../../src/base/secrets/names.js";
import type { CommandBody } from "../../src/doors/cli/command.js";
import { fileCommand } from "../../src/doors/cli/commands/files.js";
import { terminal } from "../../src/doors/cli/commands/terminal.js";
import type { HostHooks, Kind } from "../../src/places/kind.js";
import { keysOf } from "../../src/places/kind.js";
import { kinds, registerKind } from "../../src/places/kinds.js";
import { notYet } from "../../src/places/pending.js";
import { diagnose } from "../../src/process/doctor.js";
import { listSandboxes, stopSandbox } from "../../src/process/index.js";
import { atEnd, tempDir } from "../support/home.js";
import { HoldfastError, openRuntime, type Runtime } from "../support/internal.js";
import { pipe } from "./pipe/kind.js";

/** A queue in front of a shell of this machine. */
const queue = {
	state: "waits" as "waits" | "runs" | "hangs",
	starts: 0,
	limited: false,
	ends: undefined as number | undefined,
	aborted: 0,
	accounts: ["slow", "good", "bad", "quiet"],
	jobs: ["j1"],
	hooks: {} as HostHooks,
};

const behindQueue = {
	...pipe,
	name: "queue",
	forms: ["queue:///home"],
	parse: (text: string) => (text.startsWith("queue://") ? { home: text.slice("queue://".length) } : undefined),
	show: () => "queue://box",
	runs: {
		...(pipe.runs as Exclude<typeof pipe.runs, string>),
		host: async (options: never, owner: never, hooks: HostHooks) => {
			const host = await (pipe.runs as Exclude<typeof pipe.runs, string>).host(options, owner, hooks);
			queue.hooks = hooks;
			return {
				...host,
				address: "queue://box",
				start: async (signal?: AbortSignal) => {
					queue.starts++;
					queue.limited = signal !== undefined;
					if (queue.state !== "hangs") hooks.progress?.("job 7 was submitted");
					if (queue.state === "waits") throw notYet("queue://box", "job 7 waits for Resources");
					if (queue.state === "hangs") {
						hooks.progress?.("job 7 is number 3 in the queue");
						await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
						queue.aborted++;
						throw new HoldfastError("ABORTED", "given up");
					}
					return { ...(await host.start(signal)), ...(queue.ends === undefined ? {} : { ends: queue.ends }) };
				},
			};
		},
		life: () => ({ idleSeconds: 300 }),
		leftovers: {
			wheres: async () => ({
				notes: [],
				wheres: queue.accounts.map((id) => ({ id, label: `Jobs of ${id}`, quiet: id === "quiet" })),
			}),
			list: ({ id }: { id: string | undefined }) =>
				id === "slow"
					? new Promise<never>(() => {})
					: id === "good"
						? Promise.resolve(
								queue.jobs.map((job) => ({
									id: job,
									name: "n",
									task: "t",
									home: "h",
									state: "running",
									started_at: "2026-01-01T00:00:00Z",
									ends_at: "2026-01-01T04:00:00Z",
									orphan: false,
								})),
							)
						: Promise.reject(new Error("no such account")),
			remove: async ({ id: job }: { id: string }) => {
				queue.jobs = queue.jobs.filter((one) => one !== job);
				return true;
			},
		},
	},
} as unknown as Kind;
afterAll(registerKind(behindQueue));

async function open(home = tempDir("home")): Promise<Runtime> {
	const runtime = await openRuntime({ home, place: `queue://${tempDir("there")}`, warm: 0, task: "t" });
	atEnd(async () => {
		await runtime.endTask("t");
		await runtime.close();
	});
	return runtime;
}

it("what waits is said to wait, is tried once a call, and works when it is there; its end is said once", async () => {
	Object.assign(queue, { state: "waits", starts: 0, ends: Date.now() + 7_000_000 });
	const runtime = await open();
	const result = await runtime.terminal({ command: "echo no" });
	expect(result).toMatchObject({
		status: "error",
		exit_code: null,
		error: "queue://box is not there yet: job 7 waits for Resources. Nothing ran. That goes on without this call; make the same call again later",
	});
	const background = await runtime.terminal({ command: "echo no", background: true });
	expect(background).toMatchObject({ status: "error", error: result.error });
	expect(queue.starts).toBe(2);
	expect(await runtime.process({ action: "list" })).toMatchObject({ processes: [] });
	queue.state = "runs";
	const first = await runtime.terminal({ command: "echo yes" });
	expect(first).toMatchObject({
		status: "exited",
		output: "yes\n",
		note: expect.stringMatching(/queue:\/\/box ends at .*, in 1[01]\d(\.\d)? min, whatever runs in it then\./),
	});
	expect((await runtime.terminal({ command: "echo again" })).note ?? "").not.toContain("ends at");
});

it("a call whose time is over while it waits says what for; that goes on, and progress is told", async () => {
	Object.assign(queue, { state: "hangs", starts: 0, aborted: 0, ends: undefined });
	const runtime = await open();
	const lines: string[] = [];
	runtime.boxes.onProgress = (place, line) => lines.push(`${place}: ${line}`);
	const words = "queue://box is not there yet: job 7 is number 3 in the queue. Nothing ran. That goes on without this call; make the same call again later";
	expect(await runtime.terminal({ command: "echo no" }, { task: "t", within: 300 })).toMatchObject({ status: "error", error: words });
	expect(await runtime.terminal({ command: "echo no", background: true }, { task: "t", within: 300 })).toMatchObject({ status: "error", error: words });
	expect({ ...queue, hooks: undefined, ends: undefined }).toMatchObject({ starts: 1, aborted: 0 }); // the first start is still under way, for both
	expect(lines).toEqual(["queue://box: job 7 is number 3 in the queue"]);
});

it("doctor lets a start take its own time, tells its progress, and says what it waits for", async () => {
	Object.assign(queue, { state: "waits", ends: undefined });
	const runtime = await open();
	const lines: string[] = [];
	runtime.boxes.onProgress = (place, line) => lines.push(`${place}: ${line}`);
	const place = async () => (await diagnose(runtime)).checks.find(({ name }) => name === "place");
	expect(await place()).toEqual({
		name: "place",
		state: "warn",
		found: "queue://box is not there yet: job 7 waits for Resources; what this look had asked for was taken back",
	});
	expect(queue.limited).toBe(false); // the time for an answer begins when the place is there
	queue.state = "runs";
	expect(await place()).toMatchObject({ state: "ok", found: expect.stringContaining("queue://box: Linux") });
	expect(lines).toEqual(["queue://box: job 7 was submitted", "queue://box: job 7 was submitted"]);
});

it("the command line ends with 75 for a place that is not up yet", async () => {
	Object.assign(queue, { state: "waits", ends: undefined });
	const runtime = await open();
	const said: unknown[] = [];
	const out = { json: true, data: (data: unknown) => said.push(data) };
	const ask = (command: CommandBody, words: string[]) =>
		command.run({ values: {}, words, out, runtime: async () => runtime, agent: async () => runtime } as never);
	expect(await ask(terminal, ["true"])).toBe(75);
	expect(await ask(fileCommand("read-file"), ["/etc/hosts"])).toBe(75);
	expect(said).toMatchObject([1, 2].map(() => ({ status: "error", error: expect.stringContaining("job 7 waits for Resources") })));
	queue.state = "runs";
	expect(await ask(terminal, ["exit 7"])).toBe(7);
});

it("an account that does not answer becomes a note, and does not delay the others", async () => {
	Object.assign(queue, { state: "runs", ends: undefined });
	const runtime = await open();
	const { sandboxes, notes } = await listSandboxes(runtime, { ms: 300 });
	expect(sandboxes.filter(({ kind }) => kind === "queue")).toEqual([
		{
			id: "j1",
			kind: "queue",
			name: "n",
			task: "t",
			home: "h",
			state: "running",
			started_at: "2026-01-01T00:00:00Z",
			ends_at: "2026-01-01T04:00:00Z",
			orphan: false,
			processes: null,
		},
	]);
	expect(notes.filter((note) => note.startsWith("Jobs")).sort()).toEqual([
		expect.stringMatching(/^Jobs of bad could not be listed: .*no such account\.$/),
		"Jobs of slow could not be listed: no answer within 0.3 s.",
	]);
});

it("a job is stopped by its whole number, however short it is, and although another begins with it", async () => {
	Object.assign(queue, { state: "runs", accounts: ["good"], jobs: ["7", "4711", "47112"] });
	const runtime = await open();
	for (const id of ["7", "4711"]) expect(await stopSandbox(runtime, id)).toBe(`${id} of task t was removed, with all that was in it`);
	expect(queue.jobs).toEqual(["47112"]);
	await expect(stopSandbox(runtime, "4")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

it("no kind of place has a setting for a secret: settings are kept in the home", () => {
	const named = kinds().flatMap((kind) => keysOf(kind).map((key) => `${kind.name}.${key}`));
	const byName = new Set(["kubernetes.imagePullSecrets", "modal.registrySecret", "modal.secrets"]); // names of secrets that the service keeps
	expect(named.filter((key) => secretName(key.split(".")[1] as string) !== undefined && !byName.has(key))).toEqual([]);
});
