/** A place that is not there yet: it waits in a queue, is scheduled, or its image is fetched. That is no failure, and nothing has run. */
import { HoldfastError } from "../base/index.js";

/** `awaited`: what has to happen, as the rest of a sentence. */
export const notYet = (place: string, awaited: string): HoldfastError =>
	new HoldfastError("PENDING", `${place} is not there yet: ${awaited}. Nothing ran. That goes on without this call; make the same call again later`);
