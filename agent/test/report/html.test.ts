import { expect, it } from "vitest";
import { reportHtml } from "../../src/report/index.js";
import { progressOf, type RunManifest } from "../../src/run/index.js";
import { failed, items, result, scored, start } from "./rows.js";

const manifest: RunManifest = {
	...{ v: 1, id: "run_1", created_at: "2026-01-01T00:00:00.000Z", source: "/tasks/set.jsonl", agent: "model", endpoint: "e", model: "<script>m" },
	...{ place: "local", toolsets: ["terminal"], steps: 9, seconds: 60, repeats: 2, concurrency: 1 },
};

it("the report is one file that loads nothing and runs nothing, whatever a task is called", () => {
	const all = items(2, 2).map((item) => ({ ...item, key: item.index < 2 ? '<img src="http://x/">' : item.key }));
	const rows = [start(0), result(0, scored(1)), start(1), result(1, scored(0.5)), start(2), result(2, failed)];
	const html = reportHtml({ manifest, items: all, progress: progressOf(rows), proof: "nothing is left" });
	expect(html).not.toMatch(/<script|<img|<link|@import|\bon\w+=|url\(/i);
	expect(html).not.toMatch(/(?:src|href)="(?!#)/);
	expect(html).toContain("&#60;img src=&#34;http://x/&#34;&#62;");
	expect(html).toContain("default-src 'none'");
	expect(html).toMatch(/error place\/unavailable/);
	expect(html.match(/<svg/g)?.length).toBeGreaterThan(3);
	expect(reportHtml({ manifest, items: all, progress: progressOf([]) })).toContain("0 of 4 episodes done"); // before the first result
});
