/** Chooses the place of a task in Harbor's format: a container of its image, or, if the task says that it can, the sandbox of the run. */
import type { PlaceObject } from "holdfast";
import { isSandbox, type Setting, type Site } from "../../episode/index.js";
import { expandVariables, type HarborEnvironment, type HarborTask } from "../../tasks/index.js";
import { containerOf } from "../container.js";
import { builtImage } from "./image.js";

/** The directories that the format names, as they are in the place. */
export interface Layout {
	readonly tests: string;
	readonly logs: string;
	readonly solution: string;
	/** Variables that name these directories, where they have moved. */
	readonly env: Readonly<Record<string, string>>;
}

const HARBOR: Layout = { tests: "/tests", logs: "/logs", solution: "/solution", env: {} };
const MOVED = "/tmp/harbor";
const RELOCATED: Layout = {
	...{ tests: `${MOVED}/tests`, logs: `${MOVED}/logs`, solution: `${MOVED}/solution` },
	env: { TESTS_DIR: `${MOVED}/tests`, LOGS_DIR: `${MOVED}/logs`, SOLUTION_DIR: `${MOVED}/solution` },
};

export const layoutAt = (place: string | PlaceObject): Layout => (isSandbox(place) ? RELOCATED : HARBOR);

/** `[metadata] relocatable = true`: its scripts use TESTS_DIR, LOGS_DIR and SOLUTION_DIR, and need no image. */
const isRelocatable = ({ settings }: HarborTask): boolean => settings.metadata.relocatable === true;

const onThisMachine = (task: HarborTask, place: string | PlaceObject): boolean => isRelocatable(task) && isSandbox(place);

export async function settingOf(task: HarborTask, site: Site): Promise<Setting> {
	const { settings } = task;
	const user = settings.agent.user;
	if (onThisMachine(task, site.place))
		return { place: site.place, cwd: site.work, env: { ...RELOCATED.env, ...expandVariables(settings.environment.env) }, mask: false };
	const image = task.image.from === "named" ? task.image.name : await imageOf(task.image.folder, settings.environment, site);
	return { ...containerSetting(image, settings.environment, site.place), ...(user === undefined ? {} : { user: String(user) }) };
}

/** Returns the place of separate tests: a container of their own image, or a sandbox of their own. */
export async function verifierSetting(task: HarborTask, site: Site): Promise<Setting> {
	const { settings, folder } = task;
	const own = settings.verifier.environment;
	const environment = own ?? { ...settings.environment, env: {}, docker_image: undefined };
	if (onThisMachine(task, site.place)) {
		const work = `${site.work}.tests`;
		return { place: site.place, cwd: work, env: { ...RELOCATED.env, ...expandVariables(environment.env) }, mask: false };
	}
	const image = environment.docker_image ?? (await imageOf(`${folder}/tests`, environment, site));
	return containerSetting(image, environment, site.place);
}

function imageOf(folder: string, { build_timeout_sec }: HarborEnvironment, { runtime, folder: log, signal, place }: Site): Promise<string> {
	const engine = typeof place === "object" && place.kind === "docker" ? (place as { readonly engine?: string }).engine : undefined;
	return builtImage({ folder, engine, signal, seconds: build_timeout_sec, locks: `${runtime.home.root}/builds`, log: `${log}/build.txt` });
}

function containerSetting(image: string, environment: HarborEnvironment, place: string | PlaceObject): Setting {
	const { cpus, memory_mb, storage_mb, network_mode, workdir, env } = environment;
	const variables = expandVariables(env);
	return {
		place: {
			...containerOf(image, place),
			...{ profile: "plain", lifetime: "task" },
			...(network_mode === "no-network" ? { network: false } : {}),
			...(cpus === undefined ? {} : { cpus }),
			...(memory_mb === undefined ? {} : { memory: `${memory_mb}M` }),
			...(storage_mb === undefined ? {} : { disk: `${storage_mb}M` }),
			...(workdir === undefined ? {} : { workdir }),
			...(Object.keys(variables).length === 0 ? {} : { environment: variables }),
		} as PlaceObject,
		hands: "root",
		mask: false,
	};
}
