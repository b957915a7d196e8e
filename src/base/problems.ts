/** What is wrong with data from outside, in one sentence. */
import type { ZodError } from "zod";

export const problemsOf = ({ issues }: ZodError): string =>
	issues.map(({ path, message }) => (path.length === 0 ? message : `${message} (at ${path.join(".")})`)).join("; ");
