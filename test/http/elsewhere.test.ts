/** The API and the page's terminal, for processes of another machine: a real sshd on loopback. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import {
	filesSchema,
	killedSchema,
	linesSchema,
	processDetailSchema,
	processListSchema,
	startedSchema,
	uploadedSchema,
	waitedSchema,
} from "../../src/doors/http/schemas.js";
import { readLog } from "../../src/doors/mcp/logs.js";
import { dockerBox, TASK } from "../support/docker-box.js";
import { noEngine } from "../support/dockerd.js";
import { elsewhere } from "../support/elsewhere.js";
import { overApi, Viewer } from "../support/http.js";
import { freePort } from "../support/ports.js";
import { noSshd } from "../support/sshd.js";

test.skipIf(noSshd)("lists, output, files, terminal, keyboard and kill; an unreachable machine holds up no request", async () => {
	const { runtime, sshd } = await elsewhere();
	const api = await overApi(runtime);
	const { session_id } = await api.call(startedSchema, "POST", "/api/processes", { command: "bash --norc --noprofile -i" });
	const at = `/api/processes/${session_id}`;
	const viewer = await Viewer.connect(api, session_id);
	viewer.send({ type: "open", offset: null });
	await viewer.until("it is open", () => viewer.last("opened"));
	await viewer.takeKeyboard();
	viewer.send({ type: "input", data: "echo typed-$((40 + 2)); pwd\r" });
	await viewer.until("it was typed there", () => viewer.text.includes(`typed-42\r\n${sshd.home}`));
	viewer.send({ type: "resize", cols: 77, rows: 11 });
	await viewer.until("it has the size", () => viewer.messages.some((message) => message.type === "size" && message.cols === 77 && message.rows === 11));
	viewer.send({ type: "keyboard", action: "release" });
	await viewer.until("it was given back", () => viewer.last("keyboard")?.mine === false);

	const port = await freePort();
	await api.request("POST", `${at}/input`, { body: { data: `python3 -m http.server ${port} --bind 127.0.0.1`, submit: true } });
	expect(await api.call(waitedSchema, "POST", `${at}/wait`, { until: { port }, timeout: 20 })).toMatchObject({ matched: "port" });
	const { processes } = await api.call(processListSchema, "GET", "/api/processes");
	expect(processes).toMatchObject([{ session_id, place: `ssh://root@127.0.0.1:${sshd.port}`, status: "running", resources: { processes: 2 } }]);
	expect((await api.call(linesSchema, "GET", `${at}/lines`)).lines.map(({ text }) => text)).toContain("typed-42");
	expect(JSON.stringify(await readLog(runtime, "default", `holdfast://process/${session_id}/log`))).toContain("typed-42");

	// Its files are those there.
	fs.mkdirSync(path.join(sshd.home, "work"));
	fs.writeFileSync(path.join(sshd.home, "work", "a"), "some text\n");
	fs.symlinkSync("work/a", path.join(sshd.home, "link"));
	const view = await api.call(filesSchema, "GET", `/api/files?session_id=${session_id}`);
	expect(view).toMatchObject({
		place: `ssh://root@127.0.0.1:${sshd.port}`,
		path: sshd.home,
		type: "directory",
		entries: expect.arrayContaining([expect.objectContaining({ name: "link", target: "work/a", target_type: "file" })]),
	});
	expect(await api.call(filesSchema, "GET", `/api/files?session_id=${session_id}&path=link`)).toMatchObject({
		path: `${sshd.home}/work/a`,
		size: 10,
		text: true,
	});
	const part = await api.request("GET", `/api/files/content?session_id=${session_id}&path=work/a`, { headers: { Range: "bytes=5-" } });
	expect([part.status, await part.text()]).toEqual([206, "text\n"]);
	const put = (query: string, body: string) =>
		api.request("PUT", `/api/files/content?session_id=${session_id}&${query}`, { body, headers: { "Content-Type": "application/octet-stream" } });
	expect((await put("path=work/a", "new")).status).toBe(409);
	expect(uploadedSchema.parse(await (await put("path=work/a&replace=true", "new")).json())).toEqual({ path: `${sshd.home}/work/a`, size: 3, replaced: true });
	expect(fs.readFileSync(path.join(sshd.home, "work", "a"), "utf8")).toBe("new");
	expect(await api.fails("GET", `/api/files?session_id=${session_id}&path=gone`)).toBe("NOT_FOUND 404");

	await sshd.stop();
	const away = await api.call(processDetailSchema, "GET", at);
	expect(away).toMatchObject({ status: "running", note: expect.stringMatching(/Cannot reach .* Showing its last known state, from /), resources: null });
	expect(await api.call(processListSchema, "GET", "/api/processes")).toMatchObject({ processes: [{ session_id, note: away.note }] });
	await sshd.start();
	expect(await api.call(killedSchema, "POST", `${at}/kill`)).toMatchObject({ status: "killed", survivors: [] });
	await viewer.until("its viewers are told", () => viewer.last("ended"));
});

test.skipIf(noEngine())("what a start finds changed in its place is in the answer, once", async () => {
	const box = await dockerBox();
	const api = await overApi(await box.open());
	const start = async () => (await api.call(startedSchema, "POST", "/api/processes", { command: "true", task: TASK, place: "box", pty: false })).notes;
	expect(await start()).toEqual([]);
	await box.container.pause();
	expect(await start()).toEqual([expect.stringMatching(/paused/)]);
	await box.container.remove({ force: true });
	expect(await start()).toEqual([expect.stringMatching(/container was gone and has been made again/)]);
	expect(await start()).toEqual([]);
});
