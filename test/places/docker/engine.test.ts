import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { type DockerOptions, dockerHost, listContainers } from "../../../src/places/docker/index.js";
import { noEngine, ownEngine, startDaemon, stopDaemon } from "../../support/dockerd.js";
import { atEnd, tempDir, until } from "../../support/home.js";
import { testPlace } from "./support.js";

const owner = { home: "/nowhere", task: "test" };
const start = (options: DockerOptions) => dockerHost(options, owner).start();

/** A socket in a directory that others may pass through, served by `serve`. */
async function serverAt(serve: (socket: net.Socket) => void): Promise<string> {
	const file = path.join(tempDir("engine"), "docker.sock");
	const sockets = new Set<net.Socket>();
	const server = net.createServer((socket) => {
		sockets.add(socket);
		socket.on("error", () => {});
		serve(socket);
	});
	atEnd(() => {
		for (const socket of sockets) socket.destroy();
		server.close();
	});
	await once(server.listen(file), "listening");
	return file;
}

describe("an engine that cannot be used is explained:", () => {
	it("there is none", async () => {
		const socket = path.join(tempDir("none"), "docker.sock");
		await expect(start({ engine: `unix://${socket}` })).rejects.toMatchObject({
			code: "START_FAILED",
			message: expect.stringContaining(
				`there is no Docker engine here (${socket} does not exist); install Docker and start it, or give the place another \`engine\``,
			),
		});
		await expect(listContainers({ engine: `unix://${socket}` })).rejects.toThrow("there is no Docker engine here");
		await expect(dockerHost({ engine: `unix://${socket}` }, owner).stop()).rejects.toThrow("there is no Docker engine here");
	});

	it("it has left its socket behind", async () => {
		const socket = path.join(tempDir("stale"), "docker.sock");
		const server = spawn(process.execPath, ["-e", `require("net").createServer().listen(${JSON.stringify(socket)})`]);
		await until("it listens", () => fs.existsSync(socket));
		server.kill("SIGKILL");
		await once(server, "exit");
		await expect(start({ engine: `unix://${socket}` })).rejects.toThrow(`the Docker engine is not running (nothing listens at unix://${socket}); start it`);
	});

	it.skipIf(process.getuid?.() !== 0)("this user may not (only root can change to another user)", async () => {
		const socket = await serverAt((connection) => connection.destroy());
		const host = dockerHost({ engine: `unix://${socket}` }, owner);
		await expect(host.start()).rejects.toThrow("broke"); // all is loaded now, which that user could not
		process.seteuid?.(65534);
		try {
			await expect(host.start()).rejects.toThrow(/this user may not use the Docker engine \(unix:.*\); add it to the group docker/);
		} finally {
			process.seteuid?.(0);
		}
	});

	it("it hangs up, or is something else", async () => {
		const deaf = await serverAt((connection) => connection.destroy());
		await expect(start({ engine: `unix://${deaf}` })).rejects.toThrow("the connection to the Docker engine");
		const web = await serverAt((connection) => connection.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 5\r\nConnection: close\r\n\r\n<html"));
		await expect(start({ engine: `unix://${web}` })).rejects.toThrow("the Docker engine says: <html");
		const other = await serverAt((connection) => connection.end("SSH-2.0-OpenSSH_9.2\r\n"));
		await expect(start({ engine: `unix://${other}` })).rejects.toThrow(/^looking for the container: what answers at unix:\S+ is not a Docker engine/);
	});

	it("it does not answer, and the caller gives up", async () => {
		const mute = await serverAt(() => {});
		await expect(dockerHost({ engine: `unix://${mute}` }, owner).start(AbortSignal.timeout(50))).rejects.toMatchObject({ code: "ABORTED" });
	});

	it("its address is none, or leads nowhere", async () => {
		for (const engine of ["ftp://x", "tcp://", "http://["])
			await expect(start({ engine })).rejects.toThrow(`${JSON.stringify(engine)} is not an engine; write unix:///var/run/docker.sock`);
		await expect(start({ engine: "tcp://127.0.0.1:1" })).rejects.toThrow("the Docker engine is not running (nothing listens at tcp://127.0.0.1:1)");
	});

	it("DOCKER_HOST is heeded", async () => {
		const before = process.env.DOCKER_HOST;
		atEnd(() => {
			if (before === undefined) delete process.env.DOCKER_HOST;
			else process.env.DOCKER_HOST = before;
		});
		process.env.DOCKER_HOST = "tcp://127.0.0.1:1";
		await expect(start({})).rejects.toThrow("nothing listens at tcp://127.0.0.1:1");
		await expect(start({ engine: "unix:///none" })).rejects.toThrow("/none does not exist"); // asked for, so it counts
		process.env.DOCKER_HOST = "unix:///nothing/here";
		await expect(start({})).rejects.toThrow("/nothing/here does not exist");
	});
});

const why = noEngine();

describe.skipIf(why)(`an engine that is restarted${why ? `: ${why}` : ""}`, () => {
	for (const signal of ["SIGTERM", "SIGKILL"] as const)
		it(`with ${signal}, while containers go on: the stream ends in words, and the same container is found`, async () => {
			const engine = await ownEngine();
			const { host, run } = await testPlace({}, {}, engine);
			const first = await host.start();
			await run("sh -c 'trap \"\" HUP; sleep 1000' </dev/null >/dev/null 2>&1 & echo $! >/root/pid");
			const stream = await host.open("echo on; cat");
			await once(stream.output, "data");
			await stopDaemon(engine, signal);
			expect(await stream.ended).toMatch(/^the connection to the Docker engine broke: looking for the container: .*(does not exist|nothing listens)/);
			expect(await text(stream.output)).toBe("");
			await expect(host.start()).rejects.toThrow(/does not exist|nothing listens/);
			await expect(host.open("true")).rejects.toThrow(/does not exist|nothing listens/);
			await startDaemon(engine);
			expect(await host.start()).toEqual({ ...first, notes: [] });
			expect(await run('kill -0 "$(cat /root/pid)" && echo alive')).toMatchObject({ output: "alive\n" });
		});
});
