/** Pages that do not end: one whose script burns a core for as long as it is there, one whose text does not all come. */
import { expect, it } from "vitest";
import { driven, missing } from "../support/browser.js";
import { testSite } from "../support/site.js";

const PAGES: Record<string, string> = {
	"/busy": "<title>Busy</title><h1>Busy</h1><script>setTimeout(() => { while (true); }, 500)</script>",
	"/two": "<title>Two</title><h1>Page two</h1>",
};
const site = testSite((request, response) => {
	response.writeHead(200, { "content-type": "text/html" });
	if (request.url === "/never") response.write("<title>Never</title><h1>Half a page</h1>");
	else response.end(PAGES[request.url ?? ""] ?? "");
});

it.skipIf(missing)("says that a page is busy, and leaves it", { timeout: 300_000 }, async () => {
	await using web = await driven();
	await web.call("browser_navigate", { url: `${site.url}/busy` });
	await expect.poll(async () => (await web.call("browser_snapshot")).output, { timeout: 60_000 }).toContain("one of its scripts keeps it busy");
	const stuck = web.call("browser_scroll"); // ends by itself, and the next call has its turn
	const [scrolled, left] = await Promise.all([stuck, web.call("browser_navigate", { url: `${site.url}/two` })]);
	expect(scrolled.status).not.toBe("ok");
	expect(left.output).toContain("Page two");
	expect((await web.call("browser_snapshot")).output).toContain("Page two");
	expect((await web.call("browser_close")).output).toContain("its processes are gone");
});

it.skipIf(missing)("shows as much of a page as has come, and leaves it", { timeout: 300_000 }, async () => {
	await using web = await driven();
	const half = await web.call("browser_navigate", { url: `${site.url}/never` });
	expect(half.output).toMatch(/^The page has not finished loading within 30 s; this is what there is\.\n[\s\S]*heading "Half a page"/);
	expect((await web.call("browser_navigate", { url: `${site.url}/two` })).output).toContain("Page two");
});
