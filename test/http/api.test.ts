/** The API: every route against its schema, what it does, and what it refuses. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { linkOf } from "../../src/base/proc.js";
import * as schemas from "../../src/doors/http/schemas.js";
import { runningCalled } from "../../src/process/index.js";
import { untilWaiting } from "../../src/screen/index.js";
import { eventsOf } from "../support/events.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";
import { overApi } from "../support/http.js";

test("processes are started, listed, looked at, typed into, waited for and killed with proof", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const started = await api.call(schemas.startedSchema, "POST", "/api/processes", { command: "cat", task: "hand", name: "mine", cols: 90, rows: 20 });
	const at = `/api/processes/${started.session_id}`;
	expect(await api.call(schemas.processDetailSchema, "GET", `/api/processes/${started.session_id.slice(5, 11)}`)).toMatchObject({
		full_command: "cat",
		cols: 90,
		rows: 20,
		task: "hand",
	});
	expect(await api.call(schemas.writtenSchema, "POST", `${at}/input`, { data: "b25l", base64: true, submit: true })).toMatchObject({ bytes_written: 4 });
	expect(await api.call(schemas.writtenSchema, "POST", `${at}/keys`, { keys: "two<ENTER>" })).toMatchObject({ bytes_written: 4 });
	expect(await api.call(schemas.waitedSchema, "POST", `${at}/wait`, { until: { pattern: "two\\s+two" }, timeout: 10 })).toMatchObject({
		matched: "pattern",
		timed_out: false,
	});
	await api.call(schemas.okSchema, "POST", `${at}/resize`, { cols: 50, rows: 10 });
	await untilWaiting(runtime.get(started.session_id), { timeout: 100_000 }); // what it prints comes a moment before
	expect(await api.call(schemas.screenSchema, "GET", `${at}/screen`)).toMatchObject({ screen: "one\none\ntwo\ntwo", cols: 50, rows: 10, waiting_for: "line" });
	const { processes } = await api.call(schemas.processListSchema, "GET", "/api/processes?task=hand");
	expect(processes).toMatchObject([
		{ session_id: started.session_id, status: "awaiting_input", waiting_for: "line", last_line: "two", resources: { processes: expect.any(Number) } },
	]);
	expect((await api.call(schemas.tasksSchema, "GET", "/api/tasks")).tasks).toMatchObject([
		{ task: "hand", running: 1, waiting: 1, use: { processes: 1, memory_bytes: expect.any(Number), printed_bytes: processes[0]?.total_bytes } },
	]);
	const renamed = { name: "reader" };
	expect(await api.call(schemas.processSchema, "POST", `${at}/rename`, renamed)).toMatchObject(renamed);
	expect(await api.call(schemas.processSchema, "POST", `${at}/rename`, renamed)).toMatchObject(renamed); // it may keep its own
	expect(runningCalled(runtime, "reader").map(({ id }) => id)).toEqual([started.session_id]);
	expect(await api.fails("POST", `${at}/rename`, { name: "cafe" })).toBe("INVALID 400"); // looks like an id
	await api.call(schemas.okSchema, "POST", `${at}/signal`, { signal: "winch" });
	expect(await api.fails("POST", `${at}/signal`, { signal: "NONE" })).toBe("INVALID 400");
	expect(await api.call(schemas.killedSchema, "POST", `${at}/kill`)).toMatchObject({
		status: "killed",
		signalled: expect.arrayContaining([expect.any(Number)]),
		survivors: [],
		signal: "SIGTERM",
	});
	expect(await api.fails("POST", `${at}/input`, { data: "x" })).toBe("ENDED 409");
	expect(await api.fails("GET", "/api/processes/proc_000000000000")).toBe("NOT_FOUND 404");
	expect(await api.fails("POST", "/api/processes", { command: "true", cwd: "/nowhere" })).toBe("NO_DIRECTORY 400");
	expect(await api.fails("POST", "/api/processes", { command: "a\0b" })).toBe("INVALID 400");
	expect(await api.fails("POST", "/api/processes", { command: "true", place: "moon" })).toBe("INVALID 400");
});

test("a task is ended with all it owns; sandboxes are listed, stopped and pruned", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const { session_id } = await runtime.terminal({ command: "sleep 300", background: true }, { task: "over" });
	const ended = await api.call(schemas.endedTaskSchema, "POST", "/api/tasks/end", { task: "over" });
	expect(ended).toMatchObject({ task: "over", gone: true, shells: 1, processes: [{ session_id, command: "sleep 300", status: "killed" }] });
	expect(await api.call(schemas.endedTaskSchema, "POST", "/api/tasks/end", { task: "over" })).toMatchObject({ gone: true, processes: [], shells: 0 });
	const { sandboxes } = await api.call(schemas.sandboxesSchema, "GET", "/api/sandboxes");
	expect(sandboxes.filter(({ home }) => home === runtime.home.root)).toEqual([]);
	expect(await api.fails("POST", "/api/sandboxes/ffff0000ffff/stop")).toBe("NOT_FOUND 404");
	expect(await api.fails("POST", "/api/tasks/end", {})).toBe("INVALID 400");
});

test("output comes as bytes, as lines and as matches, each with its offsets", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const process = await runtime.spawn({ command: "for n in $(seq 30000); do printf 'line %d \\033[31mred\\033[0m\\n' $n; done; printf 'Nädel\\r\\nlast'" });
	await process.wait({ timeout: 100_000 });
	const at = `/api/processes/${process.id}`;
	const log = textOf(process);
	const { end } = process.log.bounds();
	const part = await api.request("GET", `${at}/log?offset=5&limit=100`);
	expect([await part.text(), part.headers.get("x-holdfast-offset"), part.headers.get("x-holdfast-next"), part.headers.get("x-holdfast-end")]).toEqual([
		log.slice(5, 105),
		"5",
		"105",
		String(end),
	]);
	expect(part.headers.get("content-type")).toBe("application/octet-stream");
	const lines: string[] = [];
	let before = end;
	do {
		const page = await api.call(schemas.linesSchema, "GET", `${at}/lines?before=${before}&limit=5000`);
		lines.unshift(...page.lines.map(({ text }) => text));
		expect(page.start).toBeLessThan(before);
		before = page.start;
	} while (before > 0);
	const wanted = [...Array.from({ length: 30_000 }, (_, n) => `line ${n + 1} red`), "Nädel", "last"];
	expect(lines).toEqual(wanted);
	const forward: string[] = [];
	for (let after = 0; after < end; ) {
		const page = await api.call(schemas.linesSchema, "GET", `${at}/lines?after=${after}&limit=5000`);
		forward.push(...page.lines.map(({ text }) => text));
		after = page.next;
	}
	expect(forward).toEqual(wanted);
	const { matches, complete } = await api.call(schemas.searchSchema, "GET", `/api/search?q=${encodeURIComponent("LINE 2999")}&limit=11`);
	expect([complete, matches.map(({ line }) => line)]).toEqual([true, [...Array.from({ length: 10 }, (_, n) => `line ${29_999 - n} red`), "line 2999 red"]]);
	for (const { offset } of matches) expect(process.read(offset, 9).bytes.toString()).toBe("line 2999");
	const secret = `ghp_${"0123456789".repeat(4).slice(0, 36)}`;
	const printed = await runtime.spawn({ command: `echo the token is ${secret}`, task: "secret" });
	await printed.wait({ timeout: 100_000 });
	const shown = [
		...(await api.call(schemas.processListSchema, "GET", "/api/processes?task=secret")).processes,
		...(await api.call(schemas.searchSchema, "GET", "/api/search?q=ghp_&task=secret")).matches,
	];
	expect(JSON.stringify(shown)).toContain("the token is ghp_…");
	expect(JSON.stringify(shown)).not.toContain(secret.slice(0, 12));
	expect(await (await api.request("GET", `/api/processes/${printed.id}/log`)).text()).toBe(`the token is ${secret}\n`);
	expect(await api.fails("GET", `${at}/log?offset=-1`)).toBe("INVALID 400");
	expect(await api.fails("GET", `${at}/log?limit=99999999`)).toBe("INVALID 400");
	expect(await api.fails("GET", "/api/search?q=")).toBe("INVALID 400");
});

test("events: a snapshot, then each change; a client that reconnects gets what it missed", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const first = await runtime.spawn({ command: "cat", name: "first" });
	const events = await eventsOf(api);
	expect((await events.next("snapshot")).data).toMatchObject({ processes: [{ session_id: first.id }] });
	const second = await runtime.spawn({ command: "read -r; echo said; exit 5", task: "other" });
	expect((await events.until("process", ({ data }) => of(data).session_id === second.id)).data).toMatchObject({ status: "running", task: "other" });
	await second.write("\n");
	const ended = await events.until("process", ({ data }) => of(data).session_id === second.id && of(data).status === "exited");
	expect(ended.data).toMatchObject({ exit_code: 5, last_line: "said" });
	const watcher = await eventsOf(api); // somebody else stays
	await watcher.next("snapshot");
	events.close();
	await first.kill();
	await watcher.until("process", ({ data }) => of(data).session_id === first.id && of(data).status === "killed");
	const back = await eventsOf(api, ended.id);
	const missed = await back.until("process", ({ data }) => of(data).session_id === first.id && of(data).status === "killed");
	expect(missed.id).not.toBe(ended.id);
	const stranger = await eventsOf(api, "00000000-7");
	expect((await stranger.next("snapshot")).data).toMatchObject({
		processes: expect.arrayContaining([expect.objectContaining({ session_id: first.id, status: "killed" })]),
	});
});

test("files are browsed, downloaded and uploaded whole, and tricks with paths lead nowhere", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const dir = tempDir("files");
	const file = (name: string) => path.join(dir, name);
	fs.writeFileSync(file("a <b>.html"), "<script>alert(1)</script>", { mode: 0o640 });
	fs.mkdirSync(file("sub"));
	fs.symlinkSync("/etc/passwd", file("link"));
	fs.symlinkSync("nowhere", file("broken"));
	fs.symlinkSync(runtime.home.root, file("home"));
	const process = await runtime.spawn({ command: "mkfifo pipe; echo made; cat", cwd: dir });
	await process.wait({ until: { pattern: "made" } });
	const query = (wanted: string) => `path=${encodeURIComponent(wanted)}&session_id=${process.id}`;
	const { entries, path: here } = await api.call(schemas.filesSchema, "GET", `/api/files?session_id=${process.id}`);
	expect(here).toBe(fs.realpathSync(dir));
	expect(entries?.map(({ name, type, target_type }) => [name, type, target_type])).toEqual([
		["home", "link", "directory"],
		["sub", "directory", undefined],
		["a <b>.html", "file", undefined],
		["broken", "link", "missing"],
		["link", "link", "file"],
		["pipe", "other", undefined],
	]);
	const download = await api.request("GET", `/api/files/content?${query("sub/../a <b>.html")}`);
	expect([
		await download.text(),
		download.headers.get("content-type"),
		download.headers.get("x-content-type-options"),
		download.headers.get("content-disposition"),
	]).toEqual(["<script>alert(1)</script>", "application/octet-stream", "nosniff", "attachment; filename*=UTF-8''a%20%3Cb%3E.html"]);
	const piece = await api.request("GET", `/api/files/content?${query("a <b>.html")}`, { headers: { Range: "bytes=1-6" } });
	expect([piece.status, await piece.text(), piece.headers.get("content-range")]).toEqual([206, "script", "bytes 1-6/25"]);
	const large = path.join(tempDir("large"), "large");
	fs.writeFileSync(large, "");
	fs.truncateSync(large, 10_000_000);
	const isOpen = () => fs.readdirSync("/proc/self/fd").some((fd) => linkOf(`/proc/self/fd/${fd}`) === large);
	expect((await api.request("HEAD", `/api/files/content?${query(large)}`)).headers.get("content-length")).toBe("10000000");
	await until("a log without a reader is closed", () => !isOpen());
	const refused = [
		["pipe", "INVALID 400"],
		["sub", "INVALID 400"],
		["/dev/zero", "INVALID 400"],
		["none", "NOT_FOUND 404"],
		["a <b>.html/x", "NOT_FOUND 404"],
		["home/token", "NOT_FOUND 404"],
		[`${runtime.home.root}/live`, "FORBIDDEN 403"],
		["home/live", "FORBIDDEN 403"],
		[`${runtime.home.root}/../${path.basename(runtime.home.root)}/procs`, "FORBIDDEN 403"],
		["x".repeat(300), "INVALID 400"],
		["a\0b", "INVALID 400"],
	] as const;
	for (const [wanted, answer] of refused) expect([wanted, await api.fails("GET", `/api/files/content?${query(wanted)}`)]).toEqual([wanted, answer]);

	const upload = (wanted: string, more = "", body = "new") =>
		api.request("PUT", `/api/files/content?${query(wanted)}${more}`, { body, headers: { "Content-Type": "application/octet-stream" } });
	expect(await (await upload("sub/new.bin")).json()).toEqual({ path: `${fs.realpathSync(dir)}/sub/new.bin`, size: 3, replaced: false });
	for (let times = 0; times < 5; times++) expect((await upload("sub/new.bin", "", "newer".repeat(1_000_000))).status).toBe(409);
	expect(fs.readFileSync(file("sub/new.bin"), "utf8")).toBe("new");
	expect((await upload("a <b>.html", "&replace=true", "newest")).status).toBe(201);
	expect([fs.readFileSync(file("a <b>.html"), "utf8"), fs.statSync(file("a <b>.html")).mode & 0o777]).toEqual(["newest", 0o640]);
	for (const wanted of ["link", "broken", "pipe", "sub", "home/x", "home/live/x", "none/x", "sub/", "sub/..", "."])
		expect([wanted, (await upload(wanted, "&replace=true")).ok]).toEqual([wanted, false]);
	expect(fs.readdirSync(dir).sort()).toEqual(["a <b>.html", "broken", "home", "link", "pipe", "sub"]);
	expect(fs.readdirSync(file("sub"))).toEqual(["new.bin"]);
});

test("the OpenAPI document names every route, and its references lead somewhere", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const document = (await (await api.request("GET", "/api/openapi.json")).json()) as Document;
	expect(document.openapi).toBe("3.1.0");
	const operations = Object.entries(document.paths).flatMap(([at, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({ at, method, operation })),
	);
	expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
	for (const { at, operation } of operations) {
		const declared = (operation.parameters ?? []).filter((one) => one.in === "path").map(({ name }) => name);
		expect(declared).toEqual([...at.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
		expect(Object.keys(operation.responses)).toContain("default");
	}
	for (const [, reference] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
		const target = (reference as string).split("/").reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document);
		expect(target).toBeTypeOf("object");
	}
	// As docs/http.md has them: each route that is written there exists, and the other way round.
	const written = new Set(
		[...fs.readFileSync("docs/http.md", "utf8").matchAll(/`((?:GET|POST|PUT|DELETE) )?(\/api\/[a-z_./A-Z]*)/g)].map(([, , at]) =>
			(at as string).replace(/\/ID/g, "/{id}").replace(/\.$/, ""),
		),
	);
	for (const { at } of operations) expect([...written]).toContain(at.replace("{viewer}", "{id}").replace("{approval}", "APPROVAL"));
	expect(document.paths["/api/tools/terminal"]?.post?.requestBody).toMatchObject({
		content: { "application/json": { schema: { properties: { command: { type: "string" } } } } },
	});
});

test("policy, doctor, prune, notices and the page's own files", async () => {
	const webDir = tempDir("web");
	fs.mkdirSync(path.join(webDir, "assets"));
	const runtime = await testRuntime();
	const api = await overApi(runtime, { webDir });
	expect(await api.call(schemas.verdictSchema, "POST", "/api/policy/check", { command: "rm -rf /" })).toMatchObject({ decision: "deny" });
	const asked = (place: unknown) => ["POST", "/api/policy/check", { command: "git push -f", place }] as const;
	expect(await api.call(schemas.verdictSchema, ...asked({ kind: "docker", image: "debian" }))).toMatchObject({ decision: "allow" });
	const open = { kind: "docker", volumes: ["/var/run/docker.sock:/var/run/docker.sock"] };
	expect(await api.call(schemas.verdictSchema, ...asked(open))).toMatchObject({ decision: "ask" });
	for (const place of [{ kind: "docker", port: 22 }, 7, {}, [], null]) expect(await api.fails(...asked(place))).toBe("INVALID 400");
	expect((await api.call(schemas.doctorSchema, "GET", "/api/doctor")).checks.map(({ name }) => name)).toContain("home");
	expect(await api.call(schemas.prunedSchema, "POST", "/api/prune", { dry_run: true })).toMatchObject({ removed: [], dry_run: true });
	const { session_id } = await runtime.terminal({ command: "read -r", background: true, notify_on_complete: true }, { task: "told" });
	await runtime.get(session_id as string).write("\n");
	const events = await eventsOf(api);
	expect((await events.until("notice", () => true)).data).toMatchObject({ kind: "completed", task: "told" });
	const { call } = await api.call(schemas.processDetailSchema, "GET", `/api/processes/${session_id}`);
	expect((await api.call(schemas.auditSchema, "GET", "/api/audit?task=told")).events.filter(({ run }) => run === call).map(({ event }) => event)).toEqual([
		"run",
		"ended",
	]);
	expect((await api.call(schemas.noticesSchema, "GET", "/api/notices?task=told")).notices).toMatchObject([{ kind: "completed" }]);

	const get = (at: string) => api.request("GET", at, { headers: { Authorization: undefined } });
	expect([(await get("/")).status, await (await get("/")).text()]).toEqual([503, expect.stringContaining("npm run build")]);
	fs.writeFileSync(path.join(webDir, "index.html"), "<title>page</title>");
	fs.writeFileSync(path.join(webDir, "assets/index-Dx3kQ9aB.js"), "1");
	fs.symlinkSync("/etc/passwd", path.join(webDir, "passwd.txt"));
	const page = await get("/some/view");
	expect([await page.text(), page.headers.get("cache-control"), page.headers.get("content-security-policy")]).toEqual([
		"<title>page</title>",
		"no-cache",
		expect.stringMatching(/default-src 'none'; script-src 'self';/),
	]);
	const script = await get("/assets/index-Dx3kQ9aB.js");
	expect([script.headers.get("content-type"), script.headers.get("cache-control")]).toEqual([
		"text/javascript; charset=utf-8",
		"public, max-age=31536000, immutable",
	]);
	for (const at of ["/assets/..%2f..%2fetc%2fpasswd.txt", "/%2e%2e/%2e%2e/etc/hosts.txt", "/passwd.txt", "/none.js", "/%00.js", "/%zz.js"])
		expect([at, (await get(at)).status]).toEqual([at, 404]);
});

test("what an agent asks is shown at once, answered, and the agent goes on; the first answer counts", async () => {
	const runtime = await testRuntime();
	const api = await overApi(runtime);
	const events = await eventsOf(api);
	await events.next("snapshot");
	expect(runtime.approvals.isAttended(runtime.task)).toBe(true);
	const file = path.join(tempDir(), "gone");
	fs.mkdirSync(file);
	const call = runtime.terminal({ command: `git push --force origin main; rm -rf ${file}` }, { task: "asks" });
	await events.until("approvals", () => true);
	const [asked] = (await api.call(schemas.approvalsSchema, "GET", "/api/approvals?task=asks")).approvals;
	expect(asked).toMatchObject({ state: "pending", waiting: true, task: "asks", parts: [{ text: expect.stringContaining("git push") }] });
	expect(await api.fails("POST", `/api/approvals/${asked?.id}`, { answer: "perhaps" })).toBe("INVALID 400");
	expect(await api.call(schemas.approvalSchema, "POST", `/api/approvals/${asked?.id}`, { answer: "no", message: "not today" })).toMatchObject({
		state: "answered",
		answer: "no",
		by: "http",
	});
	expect(await call).toMatchObject({ status: "blocked", error: expect.stringContaining("not today") });
	expect(fs.existsSync(file)).toBe(true);
	expect(await api.fails("POST", `/api/approvals/${asked?.id}`, { answer: "once" })).toBe("ANSWERED 409");
	expect((await api.call(schemas.auditSchema, "GET", "/api/audit?task=asks")).events).toMatchObject([
		{ event: "asked" },
		{ event: "decided", outcome: "no", by: "http" },
	]);
	expect(await api.call(schemas.auditSchema, "GET", "/api/audit?task=asks&limit=1")).toMatchObject({ events: [{ event: "decided" }], omitted: 1 });
	expect(await api.fails("POST", "/api/approvals/appr_000000000000", { answer: "once" })).toBe("NOT_FOUND 404");
});

const of = (data: unknown) => data as { session_id: string; status: string };

interface Document {
	readonly openapi: string;
	readonly paths: Record<string, Record<string, { operationId: string; parameters?: { name: string; in: string }[]; responses: object; requestBody?: object }>>;
}
