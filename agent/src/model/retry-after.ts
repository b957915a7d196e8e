/** How long an endpoint wants to be left alone: in a header (milliseconds, seconds, a date), in the body, or in its sentence. */

export function headerDelay(headers: Headers, now: number): number | undefined {
	const ms = headers.get("retry-after-ms")?.trim() ?? "";
	if (/^\d+(\.\d+)?$/.test(ms)) return Math.ceil(Number(ms));
	const value = headers.get("retry-after")?.trim() ?? "";
	if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
	const date = /\d{4}.*:\d\d/.test(value) ? Date.parse(value) : Number.NaN; // `Date.parse` finds a date in "-1" too
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Google has `"retryDelay": "17s"`; OpenAI and Groq say "Please try again in 1m2.5s". */
export function bodyDelay(body: string): number | undefined {
	const google = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body);
	if (google) return Math.ceil(Number(google[1]) * 1000);
	const words = /try again in (?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(ms|s))?/i.exec(body);
	if (!words || (words[1] ?? words[2] ?? words[3]) === undefined) return undefined;
	const [, hours = "0", minutes = "0", amount = "0", unit] = words;
	return Math.ceil(Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(amount) * (unit === "ms" ? 1 : 1000));
}
