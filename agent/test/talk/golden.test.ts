/**
 * What small stories are on the wire, byte for byte, in files that a person can read: golden/*.md. After a change that is meant, write them anew with
 * `GOLDEN=write npx vitest run agent/test/talk/golden.test.ts` and read the difference.
 */
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { openAgentHome } from "../../src/base/index.js";
import { type Entry, history, Log } from "../../src/talk/index.js";
import { memoryRoot, tempDir } from "../support/dirs.js";
import { type Story, stories } from "./support/stories.js";
import { bodyOf, broken, FORMATS, setupOf } from "./support/wire.js";

const DIR = path.join(import.meta.dirname, "golden");
const TITLES = { chat: "OpenAI chat completions", responses: "OpenAI responses", anthropic: "Anthropic messages" };

/** Through a real log: a story with a line that must not come next is no story. */
async function lived({ lines }: Story): Promise<readonly Entry[]> {
	const [begun, ...rest] = lines;
	if (begun?.t !== "begun") throw new Error("a story begins with `begun`");
	await using log = await Log.begin(openAgentHome(tempDir("golden", memoryRoot())), { task: begun.task, place: begun.place, model: begun.model });
	for (const line of rest) await log.append(line);
	expect(log.openCalls).toEqual([]);
	return log.entries;
}

function written({ title, about, lines }: Story, entries: readonly Entry[]): string {
	const messages = history(entries);
	const log = lines.map((line, n) =>
		JSON.stringify({ n, ...line }, (_key, value) =>
			typeof value === "string" && value.length > 300 ? `${value.slice(0, 80)}… (${value.length} characters)` : value,
		),
	);
	const blocks = FORMATS.map(
		(format) => `## ${TITLES[format]}

\`\`\`json
${bodyText(bodyOf(messages, setupOf(format), format))}
\`\`\`
`,
	);
	return [`# ${title}\n`, ...(about === "" ? [] : [`${about}\n`]), `## Log\n\n\`\`\`json\n${log.join("\n")}\n\`\`\`\n`, ...blocks].join("\n");
}

/** JSON with a line for each message. */
function bodyText(body: Readonly<Record<string, unknown>>): string {
	const fields = Object.entries(body).map(([key, value]) => {
		const items =
			Array.isArray(value) && value.length > 0 ? `[\n${value.map((item) => `    ${JSON.stringify(item)}`).join(",\n")}\n  ]` : JSON.stringify(value);
		return `  ${JSON.stringify(key)}: ${items}`;
	});
	return `{\n${fields.join(",\n")}\n}`;
}

it("small stories are valid in every format, and are sent byte for byte as their files say", async () => {
	expect(stories().length).toBeGreaterThanOrEqual(30);
	for (const story of stories()) {
		const entries = await lived(story);
		expect(broken(history(entries)), story.name).toBeUndefined();
		const file = path.join(DIR, `${story.name}.md`);
		const text = written(story, entries);
		if (process.env.GOLDEN === "write") fs.writeFileSync(file, text);
		expect.soft(text, story.name).toBe(fs.readFileSync(file, "utf8"));
	}
});

it("there is no file without a story", () => {
	const files = stories().map(({ name }) => `${name}.md`);
	expect(fs.readdirSync(DIR).sort()).toEqual(files.sort());
});
