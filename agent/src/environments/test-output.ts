/** Which tests passed, by what test programs print: pytest -rA, TAP, JUnit XML. */
export type TestStatus = "passed" | "failed" | "skipped";

const MARKS = /^.*>>>>> Start Test Output.*$([\s\S]*?)^.*>>>>> End Test Output.*$/m;
const PYTEST = /^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\s+(\S.*?)\s*$/gm;
const PYTEST_WORDS: Readonly<Record<string, TestStatus>> = {
	PASSED: "passed",
	XFAIL: "passed",
	XPASS: "passed",
	FAILED: "failed",
	ERROR: "failed",
	SKIPPED: "skipped",
};
const TAP = /^\s*(not )?ok\b(?:\s+\d+)?(?:\s+-)?\s+(.*?)(?:\s+#\s*(SKIP|TODO)\b.*)?$/gim;
const JUNIT = /<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g;

/** A test that is there twice counts as its worst. Between the marks of an evaluation script, if it has printed them. */
export function statusesIn(output: string): Map<string, TestStatus> {
	const text = MARKS.exec(output)?.[1] ?? output;
	const found = new Map<string, TestStatus>();
	const add = (name: string, status: TestStatus): void => {
		if (found.get(name) !== "failed") found.set(name, status);
	};
	for (const [, word = "", name = ""] of text.matchAll(PYTEST)) add(word === "PASSED" ? name : name.replace(/\s+-\s.*$/, ""), PYTEST_WORDS[word] as TestStatus); // a passed one has no message behind it
	for (const [, not, name = "", why] of text.matchAll(TAP)) add(name, why ? "skipped" : not ? "failed" : "passed");
	for (const [, attributes = "", inner = ""] of text.matchAll(JUNIT)) {
		const status = /<(failure|error)\b/.test(inner) ? "failed" : /<skipped\b/.test(inner) ? "skipped" : "passed";
		const [name, group] = [attribute(attributes, "name"), attribute(attributes, "classname")];
		add(name, status);
		if (group !== "") add(`${group}::${name}`, status);
	}
	return found;
}

const attribute = (text: string, name: string): string =>
	(new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(text)?.[1] ?? "").replace(
		/&(amp|lt|gt|quot|apos);/g,
		(_, word: string) => ({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" })[word] ?? "",
	);
