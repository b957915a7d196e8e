/** Views of the page that other packages bring, where they are installed beside this package. Without them nothing is missed. */
import { HoldfastError } from "../../base/index.js";
import { partsSchema, type SitePart } from "../http/index.js";

/** Not known to this package in any other way: it imports nothing of them. */
const PACKAGES: Readonly<Record<string, string>> = { "holdfast-agent": "conversations", "holdfast-browser": "browsers" };

/** The exports of their modules `NAME/page`. */
interface PageModule {
	readonly sitePart?: (options: { readonly home: string; readonly report: (text: string) => void }) => unknown;
}

export interface FoundParts {
	readonly parts: readonly SitePart[];
	/** Why one that is installed cannot be used, and what to do. */
	readonly problem?: string;
}

/** Never rejects: a part that cannot be loaded takes nothing else with it. `home`: of the runtime that the page shows. */
export async function findParts(home: string, report: (text: string) => void): Promise<FoundParts> {
	const found = await Promise.all(Object.entries(PACKAGES).map(([name, what]) => findPart(name, what, home, report)));
	const problems = found.flatMap(({ problem }) => problem ?? []);
	return { parts: found.flatMap(({ parts }) => parts), ...(problems.length > 0 ? { problem: problems.join("; ") } : {}) };
}

async function findPart(name: string, what: string, home: string, report: (text: string) => void): Promise<FoundParts> {
	try {
		const module = (await import(`${name}/page`)) as PageModule;
		if (typeof module.sitePart !== "function") throw new HoldfastError("UNSUPPORTED", "it has no part for this page");
		const part = module.sitePart({ home, report });
		const checked = partsSchema.safeParse([part]);
		if (!checked.success) throw new HoldfastError("UNSUPPORTED", "what it brings is no part of this page");
		return { parts: checked.data };
	} catch (error) {
		if (isAbsent(error, name)) return { parts: [] };
		const why = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
		return { parts: [], problem: `${what} are not on the page, since ${name} cannot be loaded (${why}); install it again, or update both packages` };
	}
}

/** Returns whether the package itself is missing; a package that lacks a module of its own is broken. */
const isAbsent = (error: unknown, name: string): boolean =>
	error instanceof Error && (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND" && error.message.startsWith(`Cannot find package '${name}'`);
