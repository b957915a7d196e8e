import { type Decision, decide } from "../../src/policy/index.js";
import { project, SOMEONE } from "./corpus.js";
import { CORES, OPAQUE, PROGRAMS, TRANSPARENT } from "./wrappings.js";

interface Wrapped {
	readonly core: string;
	readonly text: string;
	/** Whether a question is enough, whatever the core would be. */
	readonly opaque: boolean;
}

const pick = <T>(list: readonly T[], random: () => number): T => list[Math.floor(random() * list.length)] as T;

export const WRAPPED = {
	once: CORES.flatMap((core) => [
		...TRANSPARENT.map((wrap): Wrapped => ({ core, text: wrap(core), opaque: false })),
		...OPAQUE.map((wrap): Wrapped => ({ core, text: wrap(core), opaque: true })),
	]),
	/** The inner one is a simple command, so that every other can stand around it. */
	twice(random: () => number): Wrapped {
		const core = pick(CORES, random);
		return { core, text: pick(TRANSPARENT, random)(pick(PROGRAMS, random)(core)), opaque: false };
	},
};

const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

/** Those about which less is decided than about their core. */
export function lowered(list: readonly Wrapped[]): string[] {
	const cwd = project();
	const judge = (text: string): Decision => decide(text, { cwd, env: SOMEONE }).decision;
	const wanted = new Map(CORES.map((core) => [core as string, judge(core)]));
	return list.flatMap(({ core, text, opaque }) => {
		const want = opaque ? "ask" : (wanted.get(core) ?? "ask");
		const got = judge(text);
		return STRICTNESS[got] < STRICTNESS[want] ? [`${want} became ${got}: ${text}`] : [];
	});
}
