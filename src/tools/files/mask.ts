/** Refuses to write the mask of a secret back as content, which would destroy the secret. */
import { HoldfastError } from "../../base/index.js";

const MARK = "…[redacted]";

export function refuseMask(content: string, old: string, file: string): void {
	if (!content.includes(MARK) || old.includes(MARK)) return;
	throw new HoldfastError(
		"INVALID",
		`the new text contains "${MARK}", which stands for a secret that you were not shown; writing it would destroy the secret in ${file}. Nothing was written. Use patch on the lines around it, and leave the masked part out of old_string and new_string`,
	);
}

export const hasMask = (text: string): boolean => text.includes(MARK);
