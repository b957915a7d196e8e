import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { builtImage } from "../../src/environments/harbor/image.js";
import type { EpisodeAgent } from "../../src/episode/index.js";
import { loadTasks, type TaskItem } from "../../src/tasks/index.js";
import { tempDir } from "../support/dirs.js";
import { FULL_IMAGE, testEngine } from "../support/engine.js";
import { dockerField, field, harborTask, put, testOutput, wordsOf } from "./support.js";

const NO_WORK = { conversation: null, usage: { input: 0, output: 0 }, tools: [] };
const GOOD = 'echo 1 > "$LOGS/verifier/reward.txt"';

it("in a container agent and tests are who the task says, in its directory, with its variables and limits; what the agent cannot write is not tamperable", async (context) => {
	const { play } = await dockerField(context);
	process.env.EPISODE_TEST = "from here";
	const item = harborTask(`cat /app/seen; id -u; pwd; echo "$MINE"; ls -ldn /tests | cut -c 1-10; ${GOOD}`, {
		toml: '[environment]\ndocker_image = "debian:12-slim"\nworkdir = "/app"\ncpus = 1\nmemory_mb = 256\nnetwork_mode = "no-network"\nenv = { A = "${EPISODE_TEST}", B = "${EPISODE_NONE:-other}" }\n[agent]\nuser = "agent"\n[verifier]\nuser = "root"\nenv = { MINE = "its own" }\n',
		files: { "environment/given.txt": "given" },
	});
	const planted = '(setsid sh -c "while :; do echo 1 > /logs/verifier/reward.json; echo echo 1 > /tests/test.sh; done" > /dev/null 2>&1 &)';
	const played = await play(
		item,
		`{ id -un; pwd; echo "$A $B"; cat given.txt; echo; ls -d /tests /solution; cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null; } > seen 2>/dev/null; ${planted}`,
	);
	expect(played.how, wordsOf(played)).toBe("scored 1");
	expect(testOutput(played)).toBe("agent\n/app\nfrom here other\ngiven\n268435456\n0\n/app\nits own\ndrwx------\n");
});

it("a task's image is built once however many ask, with our label, and its ENTRYPOINT serves; one that cannot be built is an error with its last lines", async (context) => {
	const { play } = await dockerField(context);
	const built = (dockerfile: string) =>
		harborTask(`was=$(cat /served); until [ "$(cat /served)" != "$was" ]; do :; done; cat /built; ${GOOD}`, {
			toml: "[environment]\nbuild_timeout_sec = 120\n",
			files: { "environment/Dockerfile": dockerfile },
		});
	const serve = '#!/bin/sh\\nwhile :; do date +%%s%%N > /next; mv /next /served; sleep 0.1; done &\\nexec "$@"\\n';
	const item = built(
		`FROM ${FULL_IMAGE}\nRUN echo "built $(date +%s%N)" > /built; date > /served; printf '${serve}' > /entry; chmod +x /entry\nENTRYPOINT ["/entry"]\n`,
	);
	const [one, other, bad] = await Promise.all([play(item), play(item), play(built(`FROM ${FULL_IMAGE}\nRUN echo no such luck >&2; exit 3\n`))]);
	expect([one.how, other.how, bad.how], wordsOf(one)).toEqual(["scored 1 tamperable", "scored 1 tamperable", "environment build"]);
	expect(testOutput(one)).toBe(testOutput(other));
	expect(wordsOf(bad)).toMatch(/no such luck/);
});

it("a build that takes longer than it may is ended", async ({ skip }) => {
	const engine = await testEngine();
	if (typeof engine === "string") return skip(engine);
	const dir = put(tempDir("slow"), { "image/Dockerfile": `FROM ${FULL_IMAGE}\nRUN sleep 20\n` });
	const [folder, locks, log] = ["image", "locks", "log"].map((name) => path.join(dir, name)) as [string, string, string];
	const { signal } = new AbortController();
	const building = builtImage({ ...{ folder, engine: engine.address, locks, log, signal }, seconds: 2 });
	setFlagsFromString("--expose-gc");
	const collecting = setInterval(runInNewContext("gc") as () => void, 100); // a time limit that nothing holds would be forgotten by then
	await expect(building.finally(() => clearInterval(collecting))).rejects.toMatchObject({
		code: "build_timeout",
		message: expect.stringMatching(/within 2 s/),
	});
});

it("an engine keeps the images that were used last, whatever a container has, and what is not ours", async ({ skip }) => {
	const engine = await testEngine();
	if (typeof engine === "string") return skip(engine);
	const docker = (...args: string[]) => execFileSync("docker", ["--host", engine.address, ...args], { encoding: "utf8" }).trim();
	const dir = tempDir("images");
	const image = (name: string, most: number) => {
		put(dir, { [`${name}/Dockerfile`]: `FROM ${FULL_IMAGE}\nLABEL of=${path.basename(dir)}-${name}\n` });
		const { signal } = new AbortController();
		return builtImage({
			folder: path.join(dir, name),
			seconds: 100,
			engine: engine.address,
			locks: path.join(dir, "locks"),
			log: path.join(dir, "log"),
			most,
			signal,
		});
	};
	const [foreign, one, two] = ["holdfast-task:foreign", await image("one", 100), await image("two", 100)];
	docker("tag", FULL_IMAGE, foreign);
	expect(await image("one", 100)).toBe(one); // used again: now two is the oldest
	const three = await image("three", 2);
	const there = () => docker("image", "ls", "--format", "{{.Repository}}:{{.Tag}}", "holdfast-task").split("\n").sort();
	expect(there()).toEqual([foreign, one, three].sort());
	const container = docker("create", one, "true");
	const four = await image("four", 1);
	expect(there()).toEqual([foreign, one, four].sort());
	docker("rm", container);
	docker("image", "rm", foreign, one, four);
	expect(two).toMatch(/^holdfast-task:[0-9a-f]{32}$/);
});

it("a container that was removed or started again in the middle is an error of the place, and is not scored", async (context) => {
	const { play } = await dockerField(context);
	const engine = await testEngine();
	if (typeof engine === "string") return context.skip(engine);
	const agent = (does: (id: string) => Promise<unknown>): EpisodeAgent => ({
		name: "from outside",
		enter: async ({ cx }) => ({
			async act() {
				await does((await cx.box())?.id ?? "");
				return "finished";
			},
			leave: async () => NO_WORK,
		}),
	});
	const item = harborTask(GOOD);
	const removed = await play(
		item,
		agent((id) => engine.docker.getContainer(id).remove({ force: true })),
	);
	const again = await play(
		item,
		agent(async (id) => {
			await engine.docker.getContainer(id).kill();
			await engine.docker.getContainer(id).start();
		}),
	);
	expect([removed.how, again.how], wordsOf(removed) + wordsOf(again)).toEqual(["place replaced", "place replaced"]);
	expect([wordsOf(removed), wordsOf(again)]).toEqual([expect.stringMatching(/is gone; another one was made/), expect.stringMatching(/was started again/)]);
	expect([removed.gone, again.gone]).toEqual([true, true]);
	expect(JSON.parse(fs.readFileSync(path.join(removed.folder, "proof.json"), "utf8")).ended.join()).toMatch(/docker/);
});

it("a prompt without an image of its own is played in the containers of the run", async (context) => {
	const engine = await testEngine();
	if (typeof engine === "string") return context.skip(engine);
	const { play } = await field({ kind: "docker", engine: engine.address, image: FULL_IMAGE });
	const [greeting] = loadTasks("terminal-test").items as [TaskItem];
	expect((await play(greeting, "echo Hello from Holdfast > greeting.txt")).how).toBe("scored 1");
});

it("an image that there is not, and a user that it has not, are errors of the place before the agent acts", async (context) => {
	const { play } = await dockerField(context);
	const image = (name: string, more = "") => harborTask(GOOD, { toml: `[environment]\ndocker_image = "${name}"\n${more}` });
	const [none, nobody] = await Promise.all([play(image("holdfast/never:1")), play(image("debian:12-slim", '[agent]\nuser = "zorro"\n'), "true")]);
	expect([none.how, nobody.how]).toEqual(["place unavailable", "place unavailable"]);
	expect(wordsOf(none)).toMatch(/holdfast\/never:1/);
	expect(wordsOf(nobody)).toMatch(/no user "zorro"/);
});
