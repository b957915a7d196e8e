/** Views of the page that other packages bring: conversations, where `holdfast-agent` is installed beside this package. Without it nothing is missed. */
import { HoldfastError } from "../../base/index.js";
import { partsSchema, type SitePart } from "../http/index.js";

/** Not known to this package in any other way: it imports nothing of it. */
const PACKAGE = "holdfast-agent";

/** What its module `holdfast-agent/page` exports. */
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
	try {
		const module = (await import(`${PACKAGE}/page`)) as PageModule;
		if (typeof module.sitePart !== "function") throw new HoldfastError("UNSUPPORTED", "it has no part for this page");
		const part = module.sitePart({ home, report });
		const checked = partsSchema.safeParse([part]);
		if (!checked.success) throw new HoldfastError("UNSUPPORTED", "what it brings is no part of this page");
		return { parts: checked.data };
	} catch (error) {
		if (isAbsent(error)) return { parts: [] };
		const why = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
		return { parts: [], problem: `conversations are not on the page, since ${PACKAGE} cannot be loaded (${why}); install it again, or update both packages` };
	}
}

/** That package itself is not there; one that lacks something of its own is broken. */
const isAbsent = (error: unknown): boolean =>
	error instanceof Error && (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND" && error.message.startsWith(`Cannot find package '${PACKAGE}'`);
