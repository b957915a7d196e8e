/** Pages that want a call to do something else than it says. */
import fs from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";
import { expect, it } from "vitest";
import { profileOf } from "../../src/chrome/index.js";
import { Downloads } from "../../src/drive/downloads.js";
import { driven, missing } from "../support/browser.js";
import { route } from "../support/pages.js";
import { testSite } from "../support/site.js";

const site = testSite(route);

it.skipIf(missing)("acts on the element that a ref was given for, or on none", { timeout: 300_000 }, async () => {
	await using web = await driven();
	const open = (where: string) => web.call("browser_navigate", { url: `${site.url}${where}` });
	const stale = expect.stringContaining("is stale: its element is gone, or another page is shown; nothing was done");

	// A snapshot of a part leaves the refs of the rest as they were.
	let at = await open("/parts");
	await web.call("browser_snapshot", { ref: web.ref(at, 'region "Part"') });
	expect((await web.call("browser_click", { ref: web.ref(at, '"Top"') })).output).toContain("top pressed");

	// A frame has another document, whose first button is not the one that was shown.
	at = await open("/swap");
	const one = web.ref(at, '"One"');
	at = await web.call("browser_click", { ref: web.ref(at, '"Swap"') });
	expect(at.output).toContain('"Danger"');
	expect(await web.call("browser_click", { ref: one })).toMatchObject({ status: "error", error: stale, output: expect.not.stringContaining("danger pressed") });

	// A tab that closes itself, and a ref of it.
	at = await open("/popup");
	const opened = await web.call("browser_click", { ref: web.ref(at, '"Open"') });
	expect(opened.output).toMatch(/\/closing · tab 2 of 2/);
	const closing = web.ref(opened, "Close me");
	expect((await web.call("browser_click", { ref: closing })).output).toMatch(/\/popup\n/);
	expect(await web.call("browser_click", { ref: closing })).toMatchObject({ status: "error", error: expect.stringContaining("is of another page or tab") });

	// A page that does not want to be left asks first.
	at = await open("/leaving");
	await web.call("browser_type", { ref: web.ref(at, "Field"), text: "x" });
	expect((await open("/two")).output).toContain("A dialog is open (beforeunload)");
	await web.call("browser_dialog", { accept: false });
	expect((await web.call("browser_snapshot")).output).toContain("Title: Leaving");
	await open("/two");
	await web.call("browser_dialog", { accept: true });
	expect((await web.call("browser_wait", { text: "Page two" })).output).toContain("Page two");
});

it.skipIf(missing)("asks before a form is posted to a new host, however it is sent", { timeout: 300_000 }, async () => {
	await using web = await driven();
	const at = await web.call("browser_navigate", { url: `${site.url}/away` });
	const field = web.ref(at, 'textbox "Field"');
	const ways = [
		["browser_click", { ref: web.ref(at, 'button "Go') }],
		["browser_click", { ref: web.ref(at, "Outside") }],
		["browser_type", { ref: field, text: "x", submit: true }],
		["browser_type", { ref: field, text: "x\ny", slowly: true }],
		["browser_press", { ref: field, key: "Enter" }],
		["browser_press", { ref: web.ref(at, 'button "Go'), key: "Space" }],
		["browser_download", { ref: web.ref(at, 'button "Go') }],
	] as const;
	for (const [tool, args] of ways) expect((await web.call(tool, args)).status, `${tool} ${JSON.stringify(args)}`).toBe("pending_approval");
	await web.call("browser_click", { ref: field });
	expect((await web.call("browser_press", { key: "NumpadEnter" })).status).toBe("pending_approval");
	await web.call("browser_click", { ref: web.ref(at, 'textbox "In a frame"') });
	expect((await web.call("browser_press", { key: "Enter" })).status).toBe("pending_approval");
	expect((await web.call("browser_snapshot")).output).toContain("Title: Away");

	// A button of its own for Enter, the middle of a container, what a slot shows, keys that an element without focus leaves to another, a file chooser.
	const more = await web.call("browser_navigate", { url: `${site.url}/away-ways` });
	const search = web.ref(more, 'textbox "Search"');
	const others = [
		["browser_type", { ref: search, text: "x", submit: true }],
		["browser_click", { ref: web.ref(more, 'region "Whole"') }],
		["browser_click", { ref: web.ref(more, 'note "Slotted"') }],
		["browser_press", { ref: web.ref(more, 'button "Small"'), key: "Shift+ " }],
		["browser_upload", { ref: web.ref(more, 'button "Small"'), paths: ["in.txt"] }],
	] as const;
	fs.writeFileSync(path.join(web.dir, "in.txt"), "x");
	for (const [tool, args] of others) expect((await web.call(tool, args)).status, `${tool} ${JSON.stringify(args)}`).toBe("pending_approval");
	await web.call("browser_click", { ref: search });
	expect((await web.call("browser_press", { ref: web.ref(more, 'heading "Heading"'), key: "Enter" })).status).toBe("pending_approval");
	expect((await web.call("browser_type", { ref: search, text: "\t ", slowly: true })).error).toContain("use browser_press for it. Nothing was done");
	expect((await web.call("browser_click", { ref: web.ref(more, 'heading "Heading"') })).status).toBe("ok");
	expect((await web.call("browser_snapshot")).output).toContain("Title: Ways");
});

it.skipIf(missing)(
	"gives a page no file from outside the task unasked, nor what a link leads to, and takes no download that is refused",
	{ timeout: 300_000 },
	async () => {
		await using web = await driven({ browser: { policy: { downloads: "refuse" } } });
		const at = await web.call("browser_navigate", { url: `${site.url}/files` });
		expect((await web.call("browser_download", { ref: web.ref(at, "Report") })).error).toBe(
			"downloads are refused by web.json (browser.policy); nothing was done",
		);
		await web.call("browser_click", { ref: web.ref(at, "Report") });
		fs.mkdirSync(path.join(web.dir, "sub"));
		fs.writeFileSync(path.join(web.dir, "sub/in.txt"), "from the task");
		fs.symlinkSync("/etc/passwd", path.join(web.dir, "sub/link.txt"));
		fs.symlinkSync("/etc", path.join(web.dir, "etc"));
		const give = (name: string) => web.call("browser_upload", { ref: web.ref(at, 'button "Choose"'), paths: [name] });
		for (const name of ["/etc/passwd", "~/.profile", "../x", "sub/../../x", "sub/link.txt", "etc/passwd", "./sub/../etc/passwd"])
			expect((await give(name)).status, name).toBe("pending_approval");
		expect((await give("sub/in.txt")).status).toBe("ok");
		expect((await give("none.txt")).status).toBe("not_found");
		expect(fs.existsSync(`${profileOf(web.runtime, "t")}/downloads`)).toBe(false); // of what was clicked nothing was written
	},
);

it.skipIf(missing)("gives up a download that fills the disk, in words", { timeout: 300_000 }, async () => {
	await using web = await driven();
	const at = await web.call("browser_navigate", { url: `${site.url}/files` });
	const directory = profileOf(web.runtime, "t");
	const port = fs.readFileSync(`${directory}/DevToolsActivePort`, "utf8").split("\n", 1)[0];
	const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
	const downloads = await Downloads.watch(browser, directory, { mostBytes: 1_000_000 });
	await web.call("browser_click", { ref: web.ref(at, "Without end") });
	const { signal } = new AbortController();
	expect(await downloads.more(0, 60_000, signal)).toBe(true);
	const [download] = downloads.waiting;
	if (!download) throw new Error("there is no download");
	await expect(downloads.finished(download, 60_000, signal)).rejects.toThrow("more bytes than are kept");
	await expect.poll(() => fs.readdirSync(`${directory}/downloads`)).toEqual([]);
	await browser.close();
});

it.skipIf(missing)("keeps a password that the page shows, logs or puts into an address", { timeout: 300_000 }, async () => {
	await using web = await driven();
	const at = await web.call("browser_navigate", { url: `${site.url}/shown` });
	await web.call("browser_type", { ref: web.ref(at, 'textbox "Secret"'), text: "correct horse battery" });
	const said = [await web.call("browser_click", { ref: web.ref(at, "Show it") })];
	const field = web.ref(said[0] ?? { output: "" }, 'textbox "Secret"');
	const pictures: Buffer[] = [];
	for (const text of ["correct horse battery", "another horse, which pulls"]) {
		await web.call("browser_type", { ref: field, text });
		await web.call("browser_screenshot", { ref: field, path: "field.png" });
		pictures.push(fs.readFileSync(path.join(web.dir, "field.png")));
	}
	expect(pictures[0]?.equals(pictures[1] ?? Buffer.alloc(0))).toBe(true); // the field is covered
	await web.call("browser_click", { ref: web.ref(at, "Log it") });
	said.push(await web.call("browser_console"));
	said.push(await web.call("browser_press", { ref: field, key: "Enter" }), await web.call("browser_tabs"));
	expect(said.map(({ status }) => status)).toEqual(Array(4).fill("ok"));
	const field2 = web.ref(await web.call("browser_navigate", { url: `${site.url}/shown` }), 'textbox "Secret"');
	said.push(await web.call("browser_type", { ref: field2, text: "horse of one call", submit: true })); // no call has looked before the page is left
	expect(JSON.stringify(said)).not.toMatch(/horse/);
	expect(said[4]?.output).toContain("Title: Sent");
	expect(said[2]?.output).toContain("Title: Sent");
});
