/** Asking after a server on another machine, with whatever there is: a box whose programs are those that a test allows. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import type net from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import { httpAnswersRemotely, type Probed, portOpensRemotely } from "../../../src/places/remote/probes.js";
import { atEnd, tempDir } from "../../support/home.js";

const find = (name: string): string | undefined => ["/usr/bin", "/bin"].map((dir) => path.join(dir, name)).find((file) => fs.existsSync(file));

/** Its sh finds these programs and no others. */
function boxWith(programs: readonly string[]): Probed {
	const bin = tempDir("bin");
	for (const name of programs) fs.symlinkSync(find(name) as string, path.join(bin, name));
	const run = async (script: string) => {
		const { status, stdout } = await new Promise<ReturnType<typeof spawnSync>>((resolve) =>
			setImmediate(() => resolve(spawnSync("/bin/sh", ["-c", script], { env: { PATH: bin }, timeout: 20_000 }))),
		);
		return { status: status ?? 1, output: stdout as Buffer, error: "" };
	};
	return { name: "ssh://box", run, kernel: { read: async (paths) => paths.map((file) => fs.readFileSync(file, "utf8")) } };
}

/** In a process of its own: the box asks while this one waits. */
async function serve(): Promise<number> {
	const { Worker } = await import("node:worker_threads");
	const code = `const { parentPort } = require("node:worker_threads");
		const server = require("node:http").createServer((request, response) => response.writeHead(request.url === "/moved" ? 302 : request.url === "/ok?a=b" ? 204 : 404, { Location: "/gone" }).end("x"));
		server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`;
	const worker = new Worker(code, { eval: true });
	atEnd(() => worker.terminate());
	return new Promise((resolve) => worker.once("message", resolve));
}

const soon = () => AbortSignal.timeout(15_000);

for (const program of ["curl", "bash", "python3"])
	test.skipIf(!find(program))(`with ${program} alone`, async () => {
		const url = `http://127.0.0.1:${await serve()}`;
		const box = boxWith([program]);
		await httpAnswersRemotely(box, { url: `${url}/ok?a=b`, status: undefined }, soon());
		await httpAnswersRemotely(box, { url: `${url}/moved`, status: 302 }, soon()); // nobody is led elsewhere
		await httpAnswersRemotely(box, { url: `${url}/none`, status: 404 }, soon());
		await expect(httpAnswersRemotely(box, { url: `${url}/none`, status: undefined }, AbortSignal.timeout(1_000))).rejects.toMatchObject({
			name: "TimeoutError",
		});
	});

test("with nothing that can ask, that is said at once", async () => {
	const question = { url: "http://127.0.0.1:1/", status: undefined };
	await expect(httpAnswersRemotely(boxWith([]), question, soon())).rejects.toMatchObject({
		code: "UNSUPPORTED",
		message: expect.stringContaining("ssh://box"),
	});
	const secure = { ...question, url: "https://127.0.0.1:1/" };
	await expect(httpAnswersRemotely(boxWith(["bash"]), secure, soon())).rejects.toMatchObject({ code: "UNSUPPORTED" });
});

test("a port counts when it is open on the loopback device, of either kind", async () => {
	for (const host of ["127.0.0.1", "0.0.0.0", "::1", "::"]) {
		const server = http.createServer();
		const port = await new Promise<number>((resolve) => server.listen(0, host, () => resolve((server.address() as net.AddressInfo).port)));
		await portOpensRemotely(boxWith([]), port, soon());
		await new Promise((resolve) => server.close(resolve));
		await expect(portOpensRemotely(boxWith([]), port, AbortSignal.timeout(100))).rejects.toThrow();
	}
	const blind = { ...boxWith([]), kernel: { read: async () => [undefined, undefined] } };
	await expect(portOpensRemotely(blind, 1, soon())).rejects.toMatchObject({ code: "UNSUPPORTED" });
});
