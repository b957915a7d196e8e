/** A container made by another program, as a place. Holdfast looks at it and uses it, but never starts, stops or removes it. */
import { HoldfastError } from "../../base/index.js";
import { execUser, LABEL } from "./body.js";
import { type ContainerRequest, type FoundContainer, inspect, isOurs } from "./container.js";
import { runExec } from "./exec.js";
import { prepare } from "./prepare.js";
import { endOf, instanceOf, lifeNotes, lowerFirst } from "./words.js";

/** Counterpart of `ready` for a foreign container. Throws if the container does not exist or does not run. */
export async function attach(
	{ engine, settings, owner }: ContainerRequest,
	before: string | undefined,
	prepared: string | undefined,
	signal: AbortSignal | undefined,
): Promise<FoundContainer> {
	const name = settings.container as string;
	const refuse = (why: string, code: "START_FAILED" | "NO_DIRECTORY" = "START_FAILED"): never => {
		throw new HoldfastError(code, why);
	};
	const info = (await inspect(engine, name, signal)) ?? refuse(`the Docker engine (${engine.where}) has no container ${name}; see docker ps -a`);
	if (isOurs(info))
		return refuse(`the container ${name} is Holdfast's own, of the task ${JSON.stringify(info.Config.Labels[LABEL.task] ?? "")}; use that task in its place`);
	if (info.State.Paused) return refuse(`the container ${name} is paused; run: docker unpause ${name}`);
	if (!info.State.Running)
		return refuse(
			`the container ${name} does not run (${info.State.Status === "created" ? "it was never started" : lowerFirst(endOf(info))}), and Holdfast does not start it; run: docker start ${name}`,
		);
	if (prepared !== instanceOf(info)) {
		const as = execUser(settings, owner);
		await prepare(engine, info.Id, settings, as, signal);
		const { workdir } = settings;
		if (workdir !== undefined && (await runExec(engine, info.Id, { argv: ["test", "-d", workdir], ...as, signal })).code !== 0)
			return refuse(`there is no directory ${workdir} in the container ${name}; make it, or choose another`, "NO_DIRECTORY");
	}
	return { info, notes: lifeNotes(info, before, undefined), made: false };
}
