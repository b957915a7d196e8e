/**
 * A task in Harbor's format: a folder with `task.toml`, `instruction.md`, `environment/`, `tests/` and `solution/`, or `steps/`. What a run cannot give is
 * refused by the name of its key, before anything starts.
 */
import fs from "node:fs";
import path from "node:path";
import { parse, TomlError } from "smol-toml";
import { folderDigest, folderProblems } from "./folder.js";
import { type HarborEnvironment, type HarborSettings, harborSchema } from "./harbor-schema.js";
import { apart, digestOf, isPlainName, type LoadedTasks, PLAIN_NAME, type TaskItem, type TaskProblem } from "./item.js";
import { unknownKeys } from "./unknown-keys.js";
import { missingVariables } from "./variables.js";

const CANARY = /^(?:<!--.*canary.*-->|#.*canary.*|.*canary GUID.*)\s*$/i;
const OLD_SIZE = /^(\d+(?:\.\d+)?)\s*([KMGT])i?B?$/i;
const MEGABYTES: Readonly<Record<string, number>> = { K: 1 / 1024, M: 1, G: 1024, T: 1024 * 1024 };

export interface HarborStep {
	readonly name: string;
	readonly instruction: string;
	readonly folder: string;
	readonly settings: HarborSettings["steps"][number];
}

export interface HarborTask {
	readonly name: string;
	readonly folder: string;
	/** Without the lines that mark a benchmark; empty of a task with steps. */
	readonly instruction: string;
	readonly settings: HarborSettings;
	readonly steps: readonly HarborStep[];
	/** How its image comes about. */
	readonly image: { readonly from: "named"; readonly name: string; readonly files: boolean } | { readonly from: "built"; readonly folder: string };
	readonly separate: boolean;
}

export const isHarborTask = (folder: string): boolean => fs.existsSync(path.join(folder, "task.toml"));

const OLD_FORMAT = "is a task in the first format of Terminal-Bench (task.yaml); convert it to Harbor's, with task.toml, instruction.md and tests/test.sh";
const isOldTask = (folder: string): boolean => fs.existsSync(path.join(folder, "task.yaml")) && !isHarborTask(folder);
const namesIn = (folder: string): string[] => fs.readdirSync(folder).sort();
const isLink = (file: string): boolean => fs.lstatSync(file).isSymbolicLink();

/** Loads a task, or every task of a folder of tasks. */
export function loadHarbor(folder: string): LoadedTasks {
	const isTask = isHarborTask(folder) || isOldTask(folder);
	const inside = isTask ? [folder] : namesIn(folder).map((name) => path.join(folder, name));
	const links = isTask ? [] : inside.filter((one) => isLink(one) && isHarborTask(one)); // which would be outside of what is looked at
	const folders = inside.filter((one) => isHarborTask(one) && !links.includes(one));
	const passedOver: TaskProblem[] = [
		...links.map((at) => ({ at, text: "is a link to a task; put the folder itself there, or give its own path" })),
		...inside.filter(isOldTask).map((at) => ({ at, text: OLD_FORMAT })),
	];
	const loaded = folders.map(loadOne);
	return {
		items: apart(loaded.flatMap(({ item }) => (item ? [item] : []))),
		problems: [...passedOver, ...loaded.flatMap(({ problems }) => problems)],
		warnings: loaded.flatMap(({ warnings }) => warnings),
	};
}

interface LoadedOne {
	readonly item?: TaskItem;
	readonly problems: readonly TaskProblem[];
	readonly warnings: readonly TaskProblem[];
}

function loadOne(folder: string): LoadedOne {
	const at = folder;
	const parsed = settingsIn(folder);
	if ("problems" in parsed) return { problems: parsed.problems, warnings: [] };
	const { settings, warnings } = parsed;
	const problems = [...folderProblems(folder), ...missing(folder, settings), ...refused(at, settings)];
	const environment = path.join(folder, "environment");
	const hasDockerfile = fs.existsSync(path.join(environment, "Dockerfile"));
	const named = settings.environment.docker_image;
	if (!named && !hasDockerfile)
		problems.push({ at, key: "environment.docker_image", text: "is missing, and there is no environment/Dockerfile to build from" });
	const name = settings.task?.name ?? path.basename(folder);
	if (!isPlainName(name)) problems.push({ at, key: "task.name", text: `${JSON.stringify(name)} ${PLAIN_NAME}` });
	if (problems.length > 0) return { problems, warnings };
	const task: HarborTask = {
		...{ name, folder, settings },
		instruction: settings.steps.length > 0 ? "" : instructionIn(folder),
		steps: settings.steps.map((step) => stepIn(folder, step)),
		image: named ? { from: "named", name: named, files: !hasDockerfile && fs.existsSync(environment) } : { from: "built", folder: environment },
		separate: isSeparate(settings.verifier),
	};
	return { item: { kind: "harbor", key: name, digest: digestOf([folderDigest(folder), settings]), task }, problems, warnings };
}

function settingsIn(folder: string): { settings: HarborSettings; warnings: TaskProblem[] } | { problems: TaskProblem[] } {
	const at = folder;
	let toml: Record<string, unknown>;
	try {
		toml = parse(fs.readFileSync(path.join(folder, "task.toml"), "utf8")) as Record<string, unknown>;
	} catch (error) {
		const where = error instanceof TomlError ? ` in line ${error.line}` : "";
		return { problems: [{ at, text: `task.toml cannot be read${where}: ${(error as Error).message.split("\n")[0]}` }] };
	}
	const result = harborSchema.safeParse(toml);
	if (!result.success) return { problems: result.error.issues.map((issue) => ({ at, key: issue.path.join("."), text: `cannot be used: ${issue.message}` })) };
	const warnings = unknownKeys(harborSchema, toml).map((key) => ({ at, key, text: "is not a key of this format; it is ignored" }));
	const { verifier } = result.data;
	const environment = modern(at, "environment", result.data.environment);
	const separate = verifier.environment && modern(at, "verifier.environment", verifier.environment);
	if ("problem" in environment) return { problems: [environment.problem] };
	if (separate && "problem" in separate) return { problems: [separate.problem] };
	const tests = separate ? { verifier: { ...verifier, environment: separate.settings } } : {};
	return { settings: { ...result.data, ...tests, environment: environment.settings }, warnings };
}

/** Sizes and the network as version 1.0 writes them, in the keys of today. */
function modern(
	at: string,
	above: string,
	{ memory, storage, allow_internet, ...rest }: HarborEnvironment,
): { readonly settings: HarborEnvironment } | { readonly problem: TaskProblem } {
	const settings = { ...rest };
	for (const [old, text, key] of [
		["memory", memory, "memory_mb"],
		["storage", storage, "storage_mb"],
	] as const) {
		if (text === undefined) continue;
		const [, digits, unit] = OLD_SIZE.exec(text) ?? [];
		if (!digits || !unit) return { problem: { at, key: `${above}.${old}`, text: `is "${text}", but must be a size such as 2G` } };
		settings[key] ??= Math.max(1, Math.round(Number(digits) * (MEGABYTES[unit.toUpperCase()] as number)));
	}
	if (allow_internet !== undefined) settings.network_mode ??= allow_internet ? "public" : "no-network";
	return { settings };
}

/** Returns a problem for each setting that the format allows and no place of ours gives. */
function refused(at: string, { environment, agent, verifier, solution, steps, artifacts }: HarborSettings): TaskProblem[] {
	const no = (key: string, text: string): TaskProblem => ({ at, key, text });
	const problems: TaskProblem[] = [];
	if (fs.existsSync(path.join(at, "environment", "docker-compose.yaml")))
		problems.push(no("environment/docker-compose.yaml", "several containers for a task are not supported; a single image is"));
	for (const [above, settings] of [
		["environment", environment],
		...(verifier.environment ? [["verifier.environment", verifier.environment] as const] : []),
	] as const) {
		if (settings.os === "windows") problems.push(no(`${above}.os`, "windows is not supported; linux is"));
		if (settings.tpu) problems.push(no(`${above}.tpu`, "TPUs are not supported"));
		if (settings.gpus) problems.push(no(`${above}.gpus`, "GPUs are not supported in runs"));
		if (settings.gpu_types?.length) problems.push(no(`${above}.gpu_types`, "GPUs are not supported in runs"));
		if (settings.mcp_servers?.length) problems.push(no(`${above}.mcp_servers`, "MCP servers beside a task are not supported"));
		if (settings.skills_dir !== undefined) problems.push(no(`${above}.skills_dir`, "skills are not supported"));
	}
	const networks = [
		["environment", environment],
		["agent", agent],
		["verifier", verifier],
		...(verifier.environment ? [["verifier.environment", verifier.environment] as const] : []),
		...steps.flatMap((step) => [[`steps.${step.name}.agent`, step.agent] as const, [`steps.${step.name}.verifier`, step.verifier] as const]),
	] as const;
	for (const [above, { network_mode, allowed_hosts }] of networks) {
		if (network_mode === "allowlist") problems.push(no(`${above}.network_mode`, "a list of allowed hosts is not supported; public and no-network are"));
		else if (allowed_hosts?.length) problems.push(no(`${above}.allowed_hosts`, "a list of allowed hosts is not supported; public and no-network are"));
		else if (!above.endsWith("environment") && network_mode !== undefined && network_mode !== (environment.network_mode ?? "public"))
			problems.push(no(`${above}.network_mode`, "differs from environment.network_mode; a network that changes in the middle is not supported"));
	}
	for (const [above, env] of [
		["environment.env", environment.env],
		["verifier.env", verifier.env],
		["verifier.environment.env", verifier.environment?.env ?? {}],
		["solution.env", solution.env],
		...steps.map((step) => [`steps.${step.name}.verifier.env`, step.verifier.env] as const),
	] as const)
		for (const [name, value] of Object.entries(env))
			for (const variable of missingVariables(value))
				problems.push(
					no(`${above}.${name}`, `needs the variable ${variable} of this machine, which is not set; export it, or give a default: \${${variable}:-…}`),
				);
	if (verifier.environment && verifier.environment_mode === "shared")
		problems.push(no("verifier.environment_mode", 'is "shared", but there is a [verifier.environment]; remove one of them'));
	for (const step of steps) {
		const [user, mode] = [step.agent.user, step.verifier.environment_mode];
		if (user !== undefined && user !== agent.user) problems.push(no(`steps.${step.name}.agent.user`, "differs from agent.user; all steps have one agent"));
		if (step.verifier.environment) problems.push(no(`steps.${step.name}.verifier.environment`, "is not supported; [verifier.environment] is, for all steps"));
		if (mode !== undefined && mode !== (isSeparate(verifier) ? "separate" : "shared"))
			problems.push(no(`steps.${step.name}.verifier.environment_mode`, "differs from that of the task; all steps have one"));
	}
	for (const { service, source } of [...artifacts, ...steps.flatMap((step) => step.artifacts)])
		if (service !== undefined && service !== "main") problems.push(no("artifacts.service", `of ${source} is "${service}", but there is only main`));
	for (const { service } of [...verifier.collect, ...steps.flatMap((step) => step.verifier.collect)])
		if (service !== "main") problems.push(no("verifier.collect.service", `is "${service}", but there is only main`));
	return problems;
}

function missing(folder: string, { steps, verifier }: HarborSettings): TaskProblem[] {
	const at = folder;
	const has = (name: string) => fs.existsSync(path.join(folder, name));
	const problems: TaskProblem[] = [];
	if (steps.length === 0) {
		if (!has("instruction.md")) problems.push({ at, text: "there is no instruction.md" });
		if (!has("tests/test.sh")) problems.push({ at, text: "there is no tests/test.sh, which decides about the result" });
	}
	for (const { name } of steps) {
		if (!has(`steps/${name}/instruction.md`)) problems.push({ at, key: `steps.${name}`, text: `there is no steps/${name}/instruction.md` });
		if (!has(`steps/${name}/tests/test.sh`) && !has("tests/test.sh"))
			problems.push({ at, key: `steps.${name}`, text: `there is no steps/${name}/tests/test.sh` });
	}
	const names = steps.map(({ name }) => name);
	for (const name of names.filter((one, index) => names.indexOf(one) !== index)) problems.push({ at, key: `steps.${name}`, text: "is there twice" });
	if (isSeparate(verifier) && !verifier.environment?.docker_image && !has("tests/Dockerfile"))
		problems.push({ at, key: "verifier.environment_mode", text: "is separate, but there is neither verifier.environment.docker_image nor tests/Dockerfile" });
	return problems;
}

const isSeparate = ({ environment_mode, environment }: HarborSettings["verifier"]): boolean => environment_mode === "separate" || environment !== undefined;

function stepIn(folder: string, settings: HarborSettings["steps"][number]): HarborStep {
	const inside = path.join(folder, "steps", settings.name);
	return { name: settings.name, instruction: instructionIn(inside), folder: inside, settings };
}

/** Lines at the beginning that only mark a benchmark are no part of it. */
function instructionIn(folder: string): string {
	const lines = fs.readFileSync(path.join(folder, "instruction.md"), "utf8").split("\n");
	while (lines.length > 0 && CANARY.test(lines[0] as string)) lines.shift();
	return lines.join("\n").trim();
}
