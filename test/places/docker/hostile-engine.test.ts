/** Something that answers at the engine's address and is broken, hostile, too old, or no engine at all. */
import { once } from "node:events";
import http from "node:http";
import type net from "node:net";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { containers, execs, images } from "../../../src/places/docker/api.js";
import { type Engine, openEngine } from "../../../src/places/docker/engine.js";
import { openExec } from "../../../src/places/docker/exec.js";
import { ensureImage } from "../../../src/places/docker/image.js";
import { dockerSettings } from "../../../src/places/docker/options.js";
import { atEnd, tempDir, until } from "../../support/home.js";

interface Fake {
	readonly engine: Engine;
	/** Method and path of each request but pings. */
	readonly asked: string[];
	/** Connections so far, and those that are open. */
	readonly sockets: Set<net.Socket>;
	readonly open: Set<net.Socket>;
}

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** Answers pings with a version; all else is the test's. */
async function fakeEngine(handle: Handler, { version = "1.41", env = {} }: { version?: string; env?: NodeJS.ProcessEnv } = {}): Promise<Fake> {
	const file = path.join(tempDir("engine"), "docker.sock");
	const fake = { asked: [] as string[], sockets: new Set<net.Socket>(), open: new Set<net.Socket>() };
	const server = http.createServer((request, response) => {
		if (request.url === "/_ping") return void response.setHeader("Api-Version", version).end("OK");
		fake.asked.push(`${request.method} ${request.url}`);
		handle(request, response);
	});
	server.on("upgrade", (request: http.IncomingMessage, socket: net.Socket) => {
		fake.asked.push(`${request.method} ${request.url} ${request.headers.connection} ${request.headers.upgrade}`);
		socket.resume().on("end", () => socket.end()); // as engines do when the other side has closed
		handle(request, socket as unknown as http.ServerResponse);
	});
	server.on("connection", (socket) => {
		fake.sockets.add(socket);
		fake.open.add(socket);
		socket.on("error", () => {});
		socket.on("close", () => fake.open.delete(socket));
	});
	atEnd(() => {
		for (const socket of fake.sockets) socket.destroy();
		server.close();
	});
	await once(server.listen(file), "listening");
	return { ...fake, engine: openEngine(`unix://${file}`, { env }) };
}

const json = (response: http.ServerResponse, value: unknown) => response.setHeader("Content-Type", "application/json").end(JSON.stringify(value));
const INFO = { Id: "abc", State: { Status: "running", Running: true }, HostConfig: {}, Config: {} };
const inspect = containers.inspect("x");

describe("an answer that cannot be used is an error in words:", () => {
	const answers: [string, (response: http.ServerResponse) => void, RegExp][] = [
		["text", (to) => to.end("hello"), /cannot be understood: its answer is not JSON: "hello"; see whether it is one, or give the place another `engine`/],
		["nothing", (to) => to.end(), /cannot be understood: its answer is not JSON: ""/],
		["another form", (to) => json(to, []), /cannot be understood: its answer has another form/],
		["a wrong type", (to) => json(to, { ...INFO, State: { Running: "yes" } }), /another form: State\.Running: /],
		["no id", (to) => json(to, { ...INFO, Id: "" }), /another form: Id: /],
		["a refusal without words", (to) => to.writeHead(500).end(), /the Docker engine says: 500 Internal Server Error/],
		["a refusal with control characters", (to) => to.writeHead(418).end("\x1b[2Jtea\n"), /the Docker engine says: {2}\[2Jtea/],
		["a redirection", (to) => to.writeHead(302, { Location: "/" }).end("elsewhere"), /the Docker engine says: elsewhere/],
		["half of one", (to) => to.writeHead(200, { "Content-Length": 100 }).end("{", () => to.destroy()), /the connection to the Docker engine .* broke/],
		["half a chunk", (to) => to.write("{", () => to.socket?.destroy()), /the connection to the Docker engine .* broke/],
		["a raw line", (to) => to.socket?.end("+OK POP3 ready\r\n"), /what answers at unix:\S+ is not a Docker engine \(.*\); correct the address/],
		["endless headers", (to) => to.socket?.write(`HTTP/1.1 200 OK\r\n${"X: y\r\n".repeat(20_000)}`), /is not a Docker engine \(/],
	];
	for (const [name, answer, words] of answers)
		it(name, async () => {
			const { engine } = await fakeEngine((_request, response) => answer(response));
			await expect(engine.call("looking", inspect)).rejects.toThrow(words);
		});

	it("one without an end is given up, and its connection is closed", async () => {
		const { engine, open } = await fakeEngine((_request, response) => {
			const block = Buffer.alloc(1024 ** 2, "x");
			const more = () => response.destroyed || response.write(block, more);
			more();
		});
		await expect(engine.call("looking", inspect)).rejects.toThrow("its answer is longer than");
		await until("the connection is closed", () => open.size === 0);
	});
});

describe("an engine that hangs", () => {
	it("is given up after the time limit, at whatever point, and the connection is closed", async () => {
		const points: Handler[] = [
			() => {},
			(_request, response) => response.writeHead(200).write("{"),
			(_request, response) => response.writeHead(500).write("no"),
		];
		for (const point of points) {
			const { engine, open } = await fakeEngine(point);
			await expect(engine.call("looking", inspect, { ms: 100 })).rejects.toMatchObject({
				code: "UNREACHABLE",
				message: expect.stringMatching(/^looking: the Docker engine \(unix:\S+\) did not answer within 0\.1 s; see what it is doing$/),
			});
			await until("the connection is closed", () => open.size === 0);
		}
	});

	it("is left at once when the caller gives up, also in the middle of an answer or of an upgrade", async () => {
		const giveUp = new AbortController();
		const { engine, open, asked } = await fakeEngine((request, response) => {
			if (request.url?.endsWith("/json")) response.writeHead(200).write("{");
		});
		const calls = [inspect, containers.remove("x"), containers.unpack("x", "/", Buffer.alloc(10)), execs.start("e"), containers.create("n", {})];
		const results = Promise.allSettled(calls.map((call) => engine.call<unknown>("asking", call, { signal: giveUp.signal })));
		await until("all have been asked", () => asked.length === calls.length);
		giveUp.abort();
		for (const result of await results) expect(result).toMatchObject({ status: "rejected", reason: { code: "ABORTED", message: "asking: given up" } });
		await until("the connections are closed", () => open.size === 0);
		await expect(engine.call("asking", inspect, { signal: giveUp.signal })).rejects.toMatchObject({ code: "ABORTED" });
		expect(asked).toHaveLength(calls.length);
	});

	it("in the middle of fetching an image is left when the caller gives up", async () => {
		const giveUp = new AbortController();
		const { engine, open } = await fakeEngine((request, response) => {
			if (request.method === "GET") return void response.writeHead(404).end("{}");
			response.write('{"status":"Pulling","id":"1"}\nnot json\n{"status":5}\n');
		});
		const lines: string[] = [];
		const fetching = ensureImage(
			engine,
			dockerSettings({ image: "some/image", pull: "missing" }),
			(line) => {
				lines.push(line);
				giveUp.abort();
			},
			giveUp.signal,
		);
		await expect(fetching).rejects.toMatchObject({ code: "ABORTED" });
		expect(lines).toEqual(["fetching some/image: 1 Pulling"]);
		await until("the connection is closed", () => open.size === 0);
	});
});

describe("fetching an image", () => {
	it("that breaks off, or fails, is an error", async () => {
		const fail = async (body: (response: http.ServerResponse) => void) => {
			const { engine, asked } = await fakeEngine((request, response) => (request.method === "GET" ? response.writeHead(404).end() : body(response)));
			const result = ensureImage(engine, dockerSettings({ image: "some/image", pull: "missing" }), undefined, undefined);
			await expect(result).rejects.toMatchObject({ code: "START_FAILED", message: expect.stringContaining("see whether docker pull some/image works") });
			expect(asked).toEqual(["GET /v1.41/images/some/image/json", "POST /v1.41/images/create?fromImage=some%2Fimage%3Alatest"]);
			return await result.catch((error: Error) => error.message);
		};
		expect(await fail((response) => response.end('{"status":"x"}\n{"error":"no space left"}\n'))).toContain("fetching the image some/image: no space left");
		expect(await fail((response) => void response.write('{"status":"x"}\n', () => response.destroy()))).toContain("fetching the image some/image: aborted");
	});
});

describe("a stream", () => {
	const CREATED = (request: http.IncomingMessage, response: http.ServerResponse): boolean => {
		if (!request.url?.endsWith("/exec")) return false;
		json(response, { Id: "e1" });
		return true;
	};
	const UPGRADED = "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n";
	const opened = (engine: Engine) => openExec(engine, "x", { argv: ["true"] }, async () => undefined);

	it("begins with what came in the same packet as the answer, and ends in words when the rest is no stream", async () => {
		const { engine, asked } = await fakeEngine((request, response) => {
			if (CREATED(request, response)) return;
			if (request.url?.endsWith("/e1/json")) return void json(response, { Running: false, ExitCode: null });
			(response as unknown as net.Socket).write(
				Buffer.concat([Buffer.from(UPGRADED), Buffer.from([1, 0, 0, 0, 0, 0, 0, 3]), Buffer.from("yes"), Buffer.from("GARBAGE!!")]),
			);
		});
		const stream = await opened(engine);
		const chunks: Buffer[] = [];
		stream.output.on("data", (bytes: Buffer) => chunks.push(bytes));
		expect(await stream.ended).toBe("the connection to the command in the container broke (the engine sent something that is not a part of the stream)");
		expect(Buffer.concat(chunks).toString()).toBe("yes");
		expect(asked.slice(0, 2)).toEqual(["POST /v1.41/containers/x/exec", "POST /v1.41/exec/e1/start Upgrade tcp"]);
	});

	it("is refused where the connection stays what it was, as with a proxy that does not pass upgrades on", async () => {
		const { engine, open } = await fakeEngine((request, response) => {
			if (CREATED(request, response)) return;
			(response as unknown as net.Socket).write("HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n");
		});
		await expect(opened(engine)).rejects.toThrow("it does not turn a connection into a stream; a proxy in between may not pass that on");
		await until("that connection is closed", () => open.size <= 1);
	});

	it("that the engine refuses is an error with its words", async () => {
		const { engine } = await fakeEngine((request, response) => {
			if (CREATED(request, response)) return;
			const body = '{"message":"container x is paused"}';
			(response as unknown as net.Socket).end(`HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
		});
		await expect(opened(engine)).rejects.toThrow("starting a command in the container: the Docker engine says: container x is paused");
	});
});

describe("connections", () => {
	it("are used again, for calls that follow each other", async () => {
		const { engine, sockets } = await fakeEngine((_request, response) => json(response, INFO));
		for (let call = 0; call < 5; call++) await engine.call("looking", inspect);
		expect(sockets.size).toBe(1);
	});

	it("that the engine has closed meanwhile are replaced", async () => {
		let served = 0;
		const { engine, open } = await fakeEngine((request, response) => {
			// The second request of a connection finds it closed.
			if (++served === 2) request.socket.destroy();
			else json(response, INFO);
		});
		await engine.call("looking", inspect);
		await expect(engine.call("looking", inspect)).resolves.toMatchObject({ Id: "abc" });
		expect(served).toBe(3);
		served = 1;
		await expect(engine.call("removing", containers.remove("x"))).rejects.toThrow("broke"); // it may have been done
		expect(served).toBe(2);
		await until("nothing is left open but what is kept", () => open.size <= 1);
	});

	it("are given back when nothing was asked for some seconds", async () => {
		const { engine, open } = await fakeEngine((_request, response) => json(response, INFO));
		await engine.call("looking", inspect);
		expect(open.size).toBe(1);
		await until("it is closed", () => open.size === 0);
	});
});

describe("the version of the API", () => {
	it("is that of an older engine, and at most the newest that is known", async () => {
		for (const [version, used] of [
			["1.25", "/v1.25/"],
			["1.41", "/v1.41/"],
			["1.44", "/v1.44/"],
			["1.99", "/v1.44/"],
			["2.0", "/v1.44/"],
			["", "/"],
			["x/../..", "/"],
		] as const) {
			const { engine, asked } = await fakeEngine((_request, response) => json(response, INFO), { version });
			await engine.call("looking", inspect);
			await engine.call("looking", inspect);
			expect(asked).toEqual([`GET ${used}containers/x/json`, `GET ${used}containers/x/json`]);
		}
	});

	it("of an engine that is too old is an error, and nothing is asked", async () => {
		const { engine, asked } = await fakeEngine((_request, response) => json(response, INFO), { version: "1.24" });
		await expect(engine.call("looking", inspect)).rejects.toMatchObject({
			code: "UNSUPPORTED",
			message: expect.stringMatching(/^looking: the Docker engine \(unix:\S+\) speaks version 1\.24 of its API, and 1\.25 is the oldest .*update Docker there/),
		});
		expect(asked).toEqual([]);
	});

	it("is chosen again when the engine names another", async () => {
		const speaks = (only: string, words: (asked: string) => string): Handler => {
			return (request, response) => {
				const version = /^\/v([\d.]+)\//.exec(request.url ?? "")?.[1] ?? "";
				if (version === only) json(response, INFO);
				else response.writeHead(400).end(JSON.stringify({ message: words(version) }));
			};
		};
		const newer = speaks("1.50", (version) => `client version ${version} is too old. Minimum supported API version is 1.50, please upgrade your client`);
		const older = speaks("1.30", (version) => `client version ${version} is too new. Maximum supported API version is 1.30`);
		for (const [handler, used] of [
			[newer, "1.50"],
			[older, "1.30"],
		] as const) {
			const { engine, asked } = await fakeEngine(handler, { version: "1.99" });
			await engine.call("looking", inspect);
			await engine.call("looking", inspect);
			expect(asked).toEqual(["1.44", used, used].map((version) => `GET /v${version}/containers/x/json`));
		}
		const { engine, asked } = await fakeEngine(speaks("", (version) => `client version ${version} is too new. Maximum supported API version is ${version}`));
		await expect(engine.call("looking", inspect)).rejects.toThrow("too new");
		expect(asked).toHaveLength(1);
	});

	it("is what DOCKER_API_VERSION says", async () => {
		const { engine, asked } = await fakeEngine((_request, response) => json(response, INFO), { env: { DOCKER_API_VERSION: "1.39" } });
		await engine.call("looking", inspect);
		expect(asked).toEqual(["GET /v1.39/containers/x/json"]);
	});
});

it("names are sent as data, never as a part of the path", async () => {
	const { engine, asked } = await fakeEngine((_request, response) => json(response, INFO));
	await engine.call("looking", containers.inspect("../../images/x?y#z"));
	await engine.call("looking", images.inspect("ghcr.io/a/b@sha256:00"));
	expect(asked).toEqual(["GET /v1.41/containers/..%2F..%2Fimages%2Fx%3Fy%23z/json", "GET /v1.41/images/ghcr.io/a/b%40sha256%3A00/json"]);
});
