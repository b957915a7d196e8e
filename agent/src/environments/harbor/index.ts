/**
 * A task in Harbor's format. Its tests come into the place when the agent has been stopped, its solution only for the oracle; a score says why the agent may
 * have written it itself. agent/docs/environments.md has each key of the format.
 */
import fs from "node:fs";
import path from "node:path";
import type { Begun, Environment, Judged, Score, Setting, Site, ToolContext } from "../../episode/index.js";
import { EpisodeError, quoted } from "../../episode/index.js";
import { expandVariables, type HarborStep, type HarborTask } from "../../tasks/index.js";
import { type KeptArtifact, keepArtifacts, putArtifacts } from "./artifacts.js";
import { emptyFor, type Inhabitants, idsOf, inhabitantsOf, makeLogs, must, putFolder } from "./files.js";
import { healthy } from "./health.js";
import { reachesMinimum, totalOf } from "./steps.js";
import { type Verifier, verified } from "./verify.js";
import { type Layout, layoutAt, settingOf, verifierSetting } from "./where.js";

interface There {
	readonly site: Site;
	readonly setting: Setting;
	readonly who: Inhabitants;
	readonly layout: Layout;
}

type Common = Omit<Parameters<typeof verified>[1], "workdir" | "tester">;

/** `uid:gid` of who runs the tests. */
const testerIn = async (cx: ToolContext, { user }: Verifier, { agent, hands }: Inhabitants): Promise<string> =>
	hands === agent && user === undefined ? agent : user === "root" || user === 0 ? "0:0" : idsOf(cx, user === undefined ? null : String(user));

/** The rights of the agent in the place of the tests, where they let it write the reward itself. */
function tamperable({ agent, sudo }: Inhabitants, tester: string): string | undefined {
	const uid = (owner: string): string => owner.split(":")[0] ?? "";
	if (uid(tester) === uid(agent)) return uid(agent) === "0" ? "the agent was root in the place of the tests" : "the agent and the tests ran as the same user";
	if (uid(agent) === "0") return "the agent was root in the place of the tests";
	return sudo ? "the agent could become root in the place of the tests, by sudo" : undefined;
}

const SEPARATE_SECONDS = 900; // for an image of the tests, and for moving artifacts

export function harborEnvironment(task: HarborTask): Environment {
	const harbor = new Harbor(task);
	return {
		...{ rounds: harbor.rounds, scoreSeconds: harbor.scoreSeconds },
		place: (site) => harbor.place(site),
		start: (cx, round) => harbor.start(cx, round),
		score: (cx, round) => harbor.score(cx, round),
		total: (scores) => totalOf(scores, task),
		solve: (cx, round, signal) => harbor.solve(cx, round, signal),
	};
}

class Harbor {
	readonly rounds: number;
	readonly scoreSeconds: number;
	readonly #task: HarborTask;
	#site: Site | undefined;
	#setting: Setting | undefined;
	#who: Inhabitants | undefined;

	constructor(task: HarborTask) {
		this.#task = task;
		const { settings, steps, separate } = task;
		this.rounds = Math.max(1, steps.length);
		const verifiers: readonly Verifier[] = steps.length > 0 ? steps.map((step) => step.settings.verifier) : [settings.verifier];
		this.scoreSeconds = verifiers.reduce((total, { timeout_sec }) => total + timeout_sec, 0) + (separate ? SEPARATE_SECONDS : 0);
	}

	async place(site: Site): Promise<Setting> {
		this.#site = site;
		this.#setting = await settingOf(this.#task, site);
		return this.#setting;
	}

	async start(cx: ToolContext, round: number): Promise<Begun> {
		const { settings, folder, image, instruction } = this.#task;
		const step = this.#task.steps[round];
		if (round === 0) {
			const { who, layout } = await this.#there(cx);
			await makeLogs(cx, layout);
			if (image.from === "named" && image.files) await putFolder(cx, path.join(folder, "environment"), who.workdir, who.agent);
			if (settings.environment.healthcheck) await healthy(cx, settings.environment.healthcheck);
		}
		if (step) await this.#prepare(cx, step);
		const seconds = step?.settings.agent.timeout_sec ?? settings.agent.timeout_sec;
		return { prompt: step?.instruction ?? instruction, ...(seconds === undefined ? {} : { seconds }) };
	}

	async #prepare(cx: ToolContext, { folder, settings }: HarborStep): Promise<void> {
		const { setting, who, layout } = await this.#there(cx);
		await must(cx, `rm -rf ${quoted(layout.tests)} ${quoted(layout.solution)}`, "removing the tests of the step before");
		const files = path.join(folder, "workdir");
		if (fs.existsSync(files)) {
			await putFolder(cx, files, who.workdir, who.agent);
			if (fs.existsSync(path.join(files, "setup.sh"))) {
				const { exit_code, text } = await cx.run(`sh ./setup.sh`, { user: setting.user ?? null, cwd: who.workdir });
				if (exit_code !== 0)
					throw new EpisodeError("environment", "setup", `setup.sh of the step ended with ${exit_code}: ${text().slice(-1_000)}`, { again: true });
			}
		}
		if (settings.healthcheck) await healthy(cx, settings.healthcheck);
	}

	async score(cx: ToolContext, round: number): Promise<Judged> {
		const { settings, folder } = this.#task;
		const step = this.#task.steps[round];
		const { who, layout } = await this.#there(cx);
		const tests = [path.join(folder, "tests"), ...(step ? [path.join(step.folder, "tests")] : [])].filter((dir) => fs.existsSync(dir));
		const verifier = {
			...settings.verifier,
			...(step && { timeout_sec: step.settings.verifier.timeout_sec, user: step.settings.verifier.user ?? settings.verifier.user }),
		};
		const env = expandVariables(step ? { ...settings.verifier.env, ...step.settings.verifier.env } : settings.verifier.env);
		const common = { verifier: { ...verifier, env: {} }, env, layout, ...(step ? { step: step.name } : {}) };
		for (const { command, timeout_sec, user } of [...settings.verifier.collect, ...(step?.settings.verifier.collect ?? [])]) {
			const { exit_code, text } = await cx.run(command, {
				timeout: timeout_sec,
				user: user === undefined ? undefined : String(user),
				cwd: who.workdir,
				env: layout.env,
			});
			if (exit_code !== 0) throw new EpisodeError("scorer", "artifacts", `verifier.collect: ${command} ended with ${exit_code}: ${text().slice(-500)}`);
		}
		const kept = await keepArtifacts(cx, [...settings.artifacts, ...(step?.settings.artifacts ?? [])], layout);
		const score = this.#task.separate ? await this.#separately(cx, kept, { ...common, tests }) : await this.#beside(cx, { ...common, tests });
		const over = step && !reachesMinimum(score, step.settings.min_reward) ? `step ${step.name} did not reach its min_reward` : undefined;
		return { score, ...(over === undefined ? {} : { over }) };
	}

	/** In the place where the agent worked. */
	async #beside(cx: ToolContext, common: Common): Promise<Score> {
		const { who } = await this.#there(cx);
		const tester = await testerIn(cx, common.verifier, who);
		const score = await verified(cx, { ...common, tester, workdir: who.workdir });
		const why = tamperable(who, tester);
		return why === undefined ? score : { ...score, tamperable: why };
	}

	/** In a place of its own, where nothing that the agent left runs. */
	async #separately(cx: ToolContext, kept: readonly KeptArtifact[], { tests, ...rest }: Common): Promise<Score> {
		const setting = await verifierSetting(this.#task, (await this.#there(cx)).site);
		if (setting.cwd !== undefined) {
			fs.rmSync(setting.cwd, { recursive: true, force: true });
			fs.mkdirSync(setting.cwd, { recursive: true, mode: 0o700 });
		}
		const other = await cx.beside(setting);
		const who = await inhabitantsOf(other, setting);
		await makeLogs(other, rest.layout);
		const { healthcheck } = this.#task.settings.verifier.environment ?? {};
		if (healthcheck) await healthy(other, healthcheck);
		await putArtifacts(cx, other, kept);
		const baked = (await other.run(`[ -e ${quoted(`${rest.layout.tests}/test.sh`)} ]`)).exit_code === 0;
		const tester = await testerIn(other, rest.verifier, who);
		const score = await verified(other, { ...rest, tests: baked ? [] : tests, workdir: who.workdir, tester });
		return setting.hands === undefined ? { ...score, tamperable: "what the agent made ran as the user of the tests" } : score;
	}

	async solve(cx: ToolContext, round: number, signal: AbortSignal): Promise<void> {
		const { settings, folder, steps } = this.#task;
		const { setting, who, layout } = await this.#there(cx);
		const solution = path.join(steps[round]?.folder ?? folder, "solution");
		if (!fs.existsSync(path.join(solution, "solve.sh"))) throw new EpisodeError("environment", "agent_program", "this task has no solution/solve.sh");
		await emptyFor(cx, [layout.solution], who.agent);
		await putFolder(cx, solution, layout.solution, who.agent, "solve.sh");
		const script = quoted(`${layout.solution}/solve.sh`);
		const env = { DEBIAN_FRONTEND: "noninteractive", ...layout.env, ...expandVariables(settings.solution.env) };
		await cx.run(`(${script}) > ${quoted(`${layout.logs}/agent/oracle.txt`)} 2>&1`, { user: setting.user ?? null, cwd: who.workdir, env, signal });
	}

	async #there(cx: ToolContext): Promise<There> {
		const [site, setting] = [this.#site, this.#setting];
		if (!site || !setting) throw new Error("the environment has no place yet");
		this.#who ??= await inhabitantsOf(cx, setting);
		return { site, setting, who: this.#who, layout: layoutAt(setting.place) };
	}
}
