/** Pages that do not end: one whose script burns a core for as long as it is there, one whose text does not all come. */
import { expect, it } from "vitest";
import { browserTools } from "../../src/index.js";
import { driven, missing } from "../support/browser.js";
import { testSite } from "../support/site.js";

const PAGES: Record<string, string> = {
	"/busy": "<title>Busy</title><h1>Busy</h1><script>setTimeout(() => { while (true); }, 500)</script>",
	"/around":
		"<title>Around</title><h1>Around it</h1><button onclick=\"this.textContent='pressed'\">Press</button><iframe></iframe><script>document.querySelector('iframe').src=location.href.replace('127.0.0.1','localhost').replace('around','busy')</script>",
	"/many":
		"<title>Many</title><h1>Many</h1><script>let left = 60; const timer = setInterval(() => { if (left-- > 0) open('/two'); else clearInterval(timer); }, 20)</script>",
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

it.skipIf(missing)("shows a page around a frame that is busy", { timeout: 300_000 }, async () => {
	await using web = await driven();
	await web.call("browser_navigate", { url: `${site.url}/around` });
	let at = await web.call("browser_snapshot");
	while (at.output.includes('heading "Busy"')) at = await web.call("browser_snapshot"); // it is not busy yet
	expect(at.output).toContain('heading "Around it"');
	expect((await web.call("browser_click", { ref: web.ref(at, '"Press"') })).output).toContain('button "pressed"');
	await web.tools.close();
	web.tools = browserTools(web.runtime); // a program that comes to it when it is busy
	expect((await web.call("browser_snapshot")).output).toContain('button "pressed"');
});

it.skipIf(missing)("closes tabs that a page opens without end, and says so", { timeout: 300_000 }, async () => {
	await using web = await driven();
	await web.call("browser_navigate", { url: `${site.url}/many` });
	await expect
		.poll(async () => (await web.call("browser_snapshot")).output, { timeout: 60_000 })
		.toMatch(/tab 30 of 30\n\d+ tabs that pages have opened were closed at once/);
	expect((await web.call("browser_navigate", { url: `${site.url}/two`, new_tab: true })).error).toContain(
		"there are 30 tabs; close one with browser_tabs. Nothing was done",
	);
});
