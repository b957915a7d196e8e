/** An error in words for the model: what happened, then what to do. */
export class WebError extends Error {
	override readonly name = "WebError";
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error));
