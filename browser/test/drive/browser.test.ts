import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { findBrowser, profileOf } from "../../src/chrome/index.js";
import { browserAvailable, browserTools } from "../../src/index.js";
import { driven, missing, outside } from "../support/browser.js";
import { letLate, route } from "../support/pages.js";
import { testSite } from "../support/site.js";

const site = testSite(route);

it.skipIf(missing)("drives a real Chromium through a site", { timeout: 300_000 }, async () => {
	await using web = await driven();
	const open = (where: string) => web.call("browser_navigate", { url: `${site.url}${where}` });

	// Forms, a select, a password that no one is told, and refs that stay.
	const [first, meanwhile] = await Promise.all([open("/"), web.call("browser_snapshot")]);
	expect([meanwhile.output.includes("Title: Home"), web.runtime.list({ task: "t" }).map(({ spec }) => spec.name)]).toEqual([true, ["browser"]]); // one for both
	let at = first;
	expect(at.output).toMatch(
		/^http:\/\/127\.0\.0\.1:\d+\/\n\[Untrusted content of .*\nTitle: Home\n- heading "Home" \[level=1\] \[ref=\w{3}e\d+\]\n- link "The form"/,
	);
	const old = web.ref(at, "The form");
	at = await web.call("browser_click", { ref: old });
	expect(at.output).toContain("Title: Form");
	const again = await web.call("browser_snapshot");
	expect(web.ref(again, 'textbox "Name"')).toBe(web.ref(at, 'textbox "Name"'));
	await web.call("browser_type", { ref: web.ref(at, 'textbox "Name"'), text: "Ada" });
	const secret = await web.call("browser_type", { ref: web.ref(at, 'textbox "Secret"'), text: "hunter2 is long" });
	expect(secret.output).not.toContain("hunter2");
	await web.call("browser_select", { ref: web.ref(at, 'combobox "Colour"'), values: ["Green"] });
	const sent = await web.call("browser_click", { ref: web.ref(at, 'button "Send"') });
	expect(sent.output).toContain("Ada g");

	// A ref of another page, and one that is none.
	const stale = await web.call("browser_click", { ref: old });
	expect(stale).toMatchObject({
		status: "error",
		error: expect.stringMatching(/is stale: its element is gone, or another page is shown; nothing was done\. This is the page now/),
		output: expect.stringContaining("Ada g"),
	});
	expect(await web.call("browser_click", { ref: "e5" })).toMatchObject({ status: "error", error: expect.stringContaining("is no ref") });
	expect((await web.call("browser_back")).output).toContain("Title: Form");

	// Frames and shadow DOM, and frames that never come.
	at = await open("/frames");
	expect((await web.call("browser_wait", { text: "In the frame" })).output).toContain("the text is there");
	expect((await web.call("browser_click", { ref: web.ref(at, "In the frame") })).output).toContain("frame clicked");
	expect((await web.call("browser_click", { ref: web.ref(at, "In the shadow") })).output).toContain("shadow clicked");
	at = await open("/hung");
	expect(at.output).toMatch(/A frame in the page has not answered yet, so it is left out;[\s\S]*heading "Around it"/);
	expect((await web.call("browser_type", { ref: web.ref(at, "Beside"), text: "typed", submit: true })).output).toContain('textbox "Beside" [active]');

	// Dialogs hold everything up until they are answered.
	at = await open("/dialogs");
	const alert = await web.call("browser_click", { ref: web.ref(at, "Alert") });
	expect(alert.output).toMatch(/A dialog is open \(alert\)[\s\S]*hello there/);
	const { error = "" } = await web.call("browser_click", { ref: web.ref(at, "Prompt") });
	expect([error?.includes("a dialog is open (alert)"), outside(error ?? "")]).toEqual([true, expect.not.stringContaining("hello there")]);
	await web.call("browser_dialog", { accept: true });
	await web.call("browser_click", { ref: web.ref(at, "Prompt") });
	expect((await web.call("browser_dialog", { accept: true, text: "Bob" })).output).toContain("said Bob");
	expect((await web.call("browser_dialog", { accept: true })).error).toContain("no dialog is open");

	// Downloads and uploads are files of the task.
	at = await open("/files");
	const kept = await web.call("browser_download", { ref: web.ref(at, "Report") });
	expect(kept.output).toContain("4 bytes");
	const saved = String(kept.data?.path);
	expect([path.dirname(saved), fs.readFileSync(saved)]).toEqual([path.join(fs.realpathSync(web.dir), "downloads"), Buffer.from([0, 1, 2, 255])]);
	fs.writeFileSync(path.join(web.dir, "in.txt"), "from the task");
	const chosen = web.ref(at, 'button "Choose"');
	await web.call("browser_upload", { ref: chosen, paths: ["in.txt"] });
	await web.call("browser_click", { ref: web.ref(at, "Report") });
	await expect
		.poll(async () => (await web.call("browser_snapshot")).output)
		.toMatch(/A download has begun; browser_download keeps the last one\.\n\[Untrusted .*\nDownload: \S*report\.bin\n/);
	expect((await web.call("browser_download")).status).toBe("ok");
	expect((await web.call("browser_wait", { text: "in.txt:from the task" })).output).toContain("in.txt:from the task");

	// A page that does not finish loading, for want of a picture.
	expect((await open("/hangs")).output).toContain("All there but a picture");

	// An app with late content keeps its refs when it changes its address.
	at = await open("/spa");
	const waiting = web.call("browser_wait", { gone: "Loading" });
	letLate();
	expect((await waiting).output).toContain("the text is gone");
	at = await web.call("browser_wait", { text: "Late button" });
	expect((await web.call("browser_wait", { idle: true })).output).toContain("the network is idle");
	const second = await web.call("browser_click", { ref: web.ref(at, "Late button") });
	expect(second.output).toMatch(/spa\/two[\s\S]*second view/);
	at = await web.call("browser_navigate", { url: `${site.url.slice("http://".length)}/again` }); // a server of one's own needs no scheme
	await web.call("browser_wait", { idle: true });
	await web.call("browser_click", { ref: web.ref(at, "Ask") });
	expect((await web.call("browser_wait", { idle: true, timeout: 1 })).error).toContain("did not happen within 1 s"); // what the click asked for is still to come
	letLate();
	expect((await web.call("browser_wait", { idle: true })).output).toMatch(/the network is idle[\s\S]*"Late button"/);
	await open("/spa");
	letLate();
	expect((await web.call("browser_console", { errors: true })).output).toMatch(/error: app error/);
	expect((await web.call("browser_wait", { text: "never there", timeout: 0.2 })).error).toContain("did not happen within 0.2 s");

	// Infinite scroll, and a snapshot cut by its budget.
	await open("/endless");
	await web.call("browser_scroll", { pages: 3 });
	await web.call("browser_wait", { text: "Row 79" });
	const cut = await web.call("browser_snapshot", { max_chars: 500 });
	const [, next] = /browser_snapshot with offset (\d+)/.exec(cut.output) ?? [];
	expect(cut.output.length).toBeLessThan(900);
	expect((await web.call("browser_snapshot", { offset: Number(next), max_chars: 500 })).output).toContain("Row");

	// Tabs, a picture, two calls at once.
	at = await open("/tabs");
	await web.call("browser_click", { ref: web.ref(at, "Open another") });
	expect((await web.call("browser_tabs")).output.split("\n")).toHaveLength(2);
	expect((await web.call("browser_tabs", { close: 2 })).output.split("\n")).toHaveLength(1);
	expect((await web.call("browser_tabs", { select: 9 })).error).toContain("there is no tab 9");
	await web.call("browser_screenshot", { path: "shot.png" });
	expect(fs.readFileSync(path.join(web.dir, "shot.png")).subarray(1, 4).toString()).toBe("PNG");
	const [one, two] = await Promise.all([open("/two"), open("/form")]);
	expect([one.output.includes("Page two"), two.output.includes("Title: Form")]).toEqual([true, true]);

	// What a person is asked about; until they say yes nothing is done.
	at = await open("/form");
	const asked = [
		await web.call("browser_navigate", { url: "file:///etc/passwd" }),
		await web.call("browser_navigate", { url: "chrome://version" }),
		await web.call("browser_navigate", { url: "view-source:file:///etc/passwd" }),
		await web.call("browser_navigate", { url: "http://169.254.169.254/latest" }),
		await web.call("browser_navigate", { url: "http://[fd00:ec2::254]/latest" }),
		await web.call("browser_click", { ref: web.ref(at, "Send away") }),
	];
	expect(asked.map(({ status }) => status)).toEqual(Array(6).fill("pending_approval"));
	expect((await web.call("browser_snapshot")).output).toContain("Title: Form");
	for (const url of ["javascript:alert(1)", "data:text/html,x", "gopher://x", "not a url"])
		expect((await web.call("browser_navigate", { url })).status, url).toBe("error");
	expect((await web.call("browser_navigate", { url: "http://127.0.0.1:9/" })).error).toContain("could not be opened");

	// A tab that crashes.
	await web.call("browser_navigate", { url: `${site.url}/two` });
	const other = browserTools(web.runtime, { settings: { browser: { policy: { local_urls: "allow" } } } });
	const crash = other.tools.find(({ name }) => name === "browser_navigate");
	const far = async (url: string) => crash && (await web.runtime.task("t").call(crash, { url })).output;
	fs.writeFileSync(path.join(web.dir, "page.html"), "<h1>Of the machine</h1><script>console.log('Of the machine')</script>");
	expect(await far(`file://${web.dir}/page.html`)).toContain("Of the machine");
	const hidden = [await web.call("browser_snapshot"), await web.call("browser_console"), await web.call("browser_screenshot")]; // no one was asked for this one
	expect(hidden.map(({ output, error }) => `${output}${error}`)).toEqual(Array(3).fill(expect.stringContaining("was not opened by browser_navigate")));
	expect(JSON.stringify(hidden)).not.toContain("Of the machine");
	await far("chrome://crash");
	// Chromium tells this session of it a moment after the other one.
	await expect.poll(async () => (await web.call("browser_snapshot")).output, { timeout: 60_000 }).toContain("The tab has crashed");
	expect((await open("/two")).output).toContain("Page two");
	await other.close();

	// The program goes, and the next one is in the same page: same process, same document.
	const before = findBrowser(web.runtime, "t")?.id;
	await web.tools.close();
	web.tools = browserTools(web.runtime);
	expect((await web.call("browser_snapshot")).output).toContain("Page two");
	expect(findBrowser(web.runtime, "t")?.id).toBe(before);

	// Closed, nothing of it is left; and the next call starts another.
	expect((await web.call("browser_close")).output).toBe("The browser is closed, and its processes are gone.");
	expect(fs.existsSync(profileOf(web.runtime, "t"))).toBe(false);
	expect((await web.call("browser_close")).output).toBe("There was no browser.");
});

it("is off without a Chromium, and says what installs it", () => {
	expect(browserAvailable({}, "/nonexistent")).toEqual({
		ok: false,
		why: "Chromium is not installed",
		fix: "apt-get install -y --no-install-recommends chromium",
	});
	expect(browserAvailable({ executable: "/no/such" })).toMatchObject({ ok: false });
	expect(browserAvailable({ cdp: "ws://x" }, "/nonexistent")).toEqual({ ok: true });
});
