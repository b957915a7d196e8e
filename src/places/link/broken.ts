import { HoldfastError } from "../../base/index.js";

/** The link ended, or there is none to be had. */
export class LinkBroken extends HoldfastError {
	/** What was asked for may have been done all the same. */
	readonly mayHaveHappened: boolean;

	constructor(message: string, options: { mayHaveHappened: boolean; cause?: unknown }) {
		super("UNREACHABLE", message, options.cause === undefined ? undefined : { cause: options.cause });
		this.name = "LinkBroken";
		this.mayHaveHappened = options.mayHaveHappened;
	}
}
