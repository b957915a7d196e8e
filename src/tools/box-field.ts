/** Names the container of a call, in results of places that are recreated when they are gone. */
import * as z from "zod";

export const boxField = z.lazy(() =>
	z
		.object({ id: z.string(), since: z.string().describe("When it was last started.") })
		.describe("The task's container. Another id: a new one, without the files of the one before. Another time: restarted, and nothing runs on in it."),
);
