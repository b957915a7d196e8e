import { HoldfastError } from "../../base/index.js";

/** The link ended, or none can be opened. */
export class LinkBroken extends HoldfastError {
	/** The request may have taken effect nevertheless. */
	readonly mayHaveHappened: boolean;

	constructor(message: string, options: { mayHaveHappened: boolean; cause?: unknown }) {
		super("UNREACHABLE", message, options.cause === undefined ? undefined : { cause: options.cause });
		this.name = "LinkBroken";
		this.mayHaveHappened = options.mayHaveHappened;
	}
}
