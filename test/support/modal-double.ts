/**
 * A double of Modal: the calls of its control plane, and of the command router of a sandbox, that the real library makes for a place. Commands really
 * run, each sandbox in a room of its own. A call that it does not know is answered as UNIMPLEMENTED and noted, and a test that made one fails.
 * Not in it: latency, capacity, image builds, regions, quotas, gVisor; a test sets what they would say.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { type CallContext, createServer, ServerError, Status } from "nice-grpc";
import { expect } from "vitest";
import { atEnd, tempDir } from "./home.js";
import { modalDefinitions } from "./modal-definitions.js";
import { makeRoom, noRoom, type Room } from "./room.js";

/** GenericStatus of the protocol. */
const RESULT = { success: 1, failure: 2, terminated: 3, timeout: 4 } as const;
const SIGNALS: Readonly<Record<string, number>> = { SIGTERM: 15, SIGKILL: 9, SIGINT: 2, SIGHUP: 1 };
const VARIABLES = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/root", MODAL_IS_REMOTE: "1" };

interface Result {
	readonly status: number;
	readonly exitcode: number;
	readonly exception: string;
}

interface Tag {
	readonly tagName: string;
	readonly tagValue: string;
}

interface SecretSource {
	readonly secretId?: string;
	readonly env?: { readonly contents: Record<string, string> };
}

interface Definition {
	readonly name?: string;
	readonly imageId: string;
	readonly entrypointArgs: string[];
	readonly timeoutSecs: number;
	readonly secretIds: string[];
	readonly [key: string]: unknown;
}

interface Exec {
	readonly child: ReturnType<Room["exec"]>;
	/** stdout and stderr, whole: a reader may come back to any byte. */
	readonly parts: readonly [Buffer[], Buffer[]];
	written: number;
	closed: boolean;
	exit?: { readonly code: number; readonly signal: number };
	readonly wakes: Set<() => void>;
}

export interface DoubleSandbox {
	readonly id: string;
	readonly appId: string;
	readonly definition: Definition;
	tags: Tag[];
	readonly createdAt: number;
	readonly env: Record<string, string>;
	readonly execs: Map<string, Exec>;
	room?: Room;
	begun?: true;
	timer?: NodeJS.Timeout;
	result?: Result;
	ended(): void;
	readonly whenEnded: Promise<void>;
}

type Code = keyof typeof Status;

interface Refusal {
	readonly code: Code;
	readonly message: string;
}

export interface ModalDouble {
	readonly url: string;
	readonly tokenId: string;
	readonly tokenSecret: string;
	readonly sandboxes: Map<string, DoubleSandbox>;
	/** Names and ids of the apps that are not stopped. */
	readonly apps: Map<string, string>;
	/** Names of secrets, and what is in them. */
	readonly secrets: Map<string, Record<string, string>>;
	readonly volumes: Set<string>;
	/** Ids of images, and the directories with their files. */
	readonly built: Map<string, string>;
	/** Name and request of every call. */
	readonly calls: string[];
	/** What is said to a call, in place of its answer. */
	refuses?: ((method: string) => Refusal | undefined) | undefined;
	/** Images are being built until it is over. */
	building?: Promise<void> | undefined;
	/** Sandboxes of the older kind, those with a GPU, wait for capacity. */
	queued: boolean;
	/** How every new sandbox ends, instead of starting. */
	endsAtOnce?: Partial<Result> | undefined;
	/** The token is not good any more. */
	expired: boolean;
	/** Ends all output streams in the middle, as a router does that is restarted. */
	cut(): void;
	end(id: string, result: Partial<Result>): void;
}

/** Why there can be none here; undefined when there can. */
export const noModal = noRoom;

const jwt = (): string =>
	["h", Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + 600, n: randomBytes(6).toString("hex") })).toString("base64url"), "s"].join(".");

/** `images`: names and the directories with their files. `shown`: directories that are in every sandbox at the same path. Closed when the test, or the file, is over. */
export async function modalDouble(images: Readonly<Record<string, string>>, shown: readonly string[] = []): Promise<ModalDouble> {
	const { control, router } = modalDefinitions();
	const fail = (code: Code, message: string): never => {
		throw new ServerError(Status[code], message);
	};
	const sandboxes = new Map<string, DoubleSandbox>();
	const unknown: string[] = [];
	const jwts = new Set<string>();
	const cuts = new Set<() => void>();
	const running = (box: DoubleSandbox) => box.result === undefined;
	const byId = (id: string) => sandboxes.get(id) ?? fail("NOT_FOUND", `Sandbox ${id} not found`);
	const byTask = (id: string) => byId(id.replace(/^ta-/, "sb-"));
	const appOf = (name: string) => double.apps.get(name);
	const access = () => {
		const token = jwt();
		jwts.add(token);
		return { jwt: token, url: `https://127.0.0.1:${port}` }; // the library wants https here; to a loopback server it then speaks plaintext
	};
	const end = (box: DoubleSandbox, result: Partial<Result>) => {
		if (!running(box)) return;
		box.result = { status: RESULT.success, exitcode: 0, exception: "", ...result };
		clearTimeout(box.timer);
		box.room?.stop();
		box.ended();
	};
	const contents = (sources: readonly SecretSource[]) =>
		Object.assign({}, ...sources.map(({ secretId, env }) => env?.contents ?? double.secrets.get((secretId ?? "").replace(/^st-/, "")) ?? {}));

	/** `v1`: of the older kind, which the library tells by the length of its id. */
	const create = async ({ appId, definition, tags, secretSources }: CreateRequest, v1: boolean): Promise<DoubleSandbox> => {
		if (![...double.apps.values()].includes(appId)) fail("NOT_FOUND", `App ${appId} not found`);
		const { name } = definition;
		if ([...sandboxes.values()].some((box) => box.appId === appId && name !== undefined && box.definition.name === name && running(box)))
			fail("ALREADY_EXISTS", `Sandbox with name '${name}' already exists`);
		const rootfs = double.built.get(definition.imageId) ?? fail("NOT_FOUND", `Image ${definition.imageId} not found`);
		const sources = v1 ? definition.secretIds.map((secretId) => ({ secretId })) : (secretSources ?? []);
		let ended = () => {};
		const whenEnded = new Promise<void>((resolve) => {
			ended = resolve;
		});
		const box: DoubleSandbox = {
			...{ id: `sb-${randomBytes(v1 ? 11 : 13).toString("hex")}`, appId, definition, tags, createdAt: Date.now() / 1000, execs: new Map(), ended, whenEnded },
			env: { ...VARIABLES, ...contents(sources) },
		};
		sandboxes.set(box.id, box);
		if (double.endsAtOnce !== undefined) {
			end(box, double.endsAtOnce);
			return box;
		}
		box.timer = setTimeout(() => end(box, { status: RESULT.timeout }), definition.timeoutSecs * 1000).unref();
		if (!v1 || !double.queued) await begin(box, rootfs);
		return box;
	};
	const begin = async (box: DoubleSandbox, rootfs: string) => {
		if (box.begun) return;
		box.begun = true;
		const room = await makeRoom(rootfs, shown);
		if (!running(box)) return room.stop();
		box.room = room;
		const main = room.exec(box.definition.entrypointArgs, { env: box.env });
		main.once("exit", (code) => end(box, { status: code === 0 ? RESULT.success : RESULT.failure, exitcode: code ?? 137 }));
		room.over.then(() => end(box, { status: RESULT.failure, exitcode: 137 }));
	};

	type CreateRequest = { appId: string; definition: Definition; tags: Tag[]; secretSources?: SecretSource[] };
	type ById = { sandboxId: string };
	const taskOf = ({ sandboxId }: ById) => {
		const box = byId(sandboxId);
		if (!running(box)) return { taskResult: box.result };
		if (!double.queued) void begin(box, double.built.get(box.definition.imageId) as string);
		return box.room === undefined ? {} : { taskId: box.id.replace(/^sb-/, "ta-") };
	};
	const accessTo = (box: DoubleSandbox) => (running(box) ? access() : fail("FAILED_PRECONDITION", "the sandbox has finished"));
	const wait = async ({ sandboxId, timeout }: ById & { timeout: number }) => {
		const box = byId(sandboxId);
		await Promise.race([box.whenEnded, new Promise((resolve) => setTimeout(resolve, timeout * 1000).unref())]);
		return { result: box.result };
	};
	const terminate = async ({ sandboxId }: ById) => {
		end(byId(sandboxId), { status: RESULT.terminated });
		return {};
	};
	const named =
		(v1: boolean) =>
		async ({ appName, sandboxName }: { appName: string; sandboxName: string }) => {
			const fits = (box: DoubleSandbox) => box.appId === appOf(appName) && box.definition.name === sandboxName && running(box) && (box.id.length === 25) === v1;
			return { sandboxId: ([...sandboxes.values()].find(fits) ?? fail("NOT_FOUND", "no such sandbox")).id };
		};
	const tagsOf = async ({ sandboxId }: ById) => ({ tags: byId(sandboxId).tags });

	const controlCalls: Record<string, unknown> = {
		authTokenGet: async () => ({ token: jwt() }),
		environmentGetOrCreate: async ({ deploymentName }: { deploymentName: string }) => ({
			environmentId: "en-1",
			metadata: { name: deploymentName || "main", settings: { imageBuilderVersion: "2025.06" } },
		}),
		appGetOrCreate: async ({ appName, objectCreationType }: { appName: string; objectCreationType: number }) => {
			if (!double.apps.has(appName) && objectCreationType !== 1) fail("NOT_FOUND", `App '${appName}' not found`);
			if (!double.apps.has(appName)) double.apps.set(appName, `ap-${randomBytes(8).toString("hex")}`);
			return { appId: double.apps.get(appName) };
		},
		appList: async () => ({ apps: [...double.apps].map(([name, appId]) => ({ appId, name, description: name, state: 3, createdAt: Date.now() / 1000 })) }),
		appStop: async ({ appId }: { appId: string }) => {
			for (const box of sandboxes.values()) if (box.appId === appId) end(box, { status: RESULT.terminated });
			for (const [name, id] of double.apps) if (id === appId) double.apps.delete(name);
			return {};
		},
		imageGetOrCreate: async ({ image }: { image: { dockerfileCommands: string[] } }) => {
			const tag = (image.dockerfileCommands[0] ?? "").replace(/^FROM /, "");
			const imageId = `im-${Buffer.from(tag).toString("hex").slice(0, 22)}`;
			const dir = images[tag];
			if (dir === undefined) return { imageId, result: { status: RESULT.failure, exception: `pulling ${tag}: manifest unknown` } };
			double.built.set(imageId, dir);
			return double.building ? { imageId } : { imageId, result: { status: RESULT.success } };
		},
		async *imageJoinStreaming() {
			await double.building;
			yield { entryId: "1-0", result: { status: RESULT.success } };
		},
		imageFromId: async ({ imageId }: { imageId: string }) =>
			double.built.has(imageId) ? { imageId } : fail("NOT_FOUND", `Could not find image with ID ${imageId}`),
		imageDelete: async ({ imageId }: { imageId: string }) => (double.built.delete(imageId) ? {} : fail("NOT_FOUND", `Could not find image with ID ${imageId}`)),
		secretGetOrCreate: async ({ deploymentName }: { deploymentName: string }) =>
			double.secrets.has(deploymentName) ? { secretId: `st-${deploymentName}` } : fail("NOT_FOUND", `Secret '${deploymentName}' not found`),
		volumeGetOrCreate: async ({ deploymentName }: { deploymentName: string }) =>
			double.volumes.has(deploymentName) ? { volumeId: `vo-${deploymentName}` } : fail("NOT_FOUND", `Volume '${deploymentName}' not found`),
		sandboxCreateV2: async (request: CreateRequest) => {
			const { id } = await create(request, false);
			return { sandboxId: id, taskId: id.replace(/^sb-/, "ta-"), commandRouterAccess: access(), tunnels: [] };
		},
		sandboxCreate: async (request: CreateRequest) => ({ sandboxId: (await create(request, true)).id }),
		sandboxGetFromNameV2: named(false),
		sandboxGetFromName: named(true),
		sandboxListV2: async ({ appId, beforeTimestamp }: { appId: string; beforeTimestamp: number }) => ({
			sandboxes: [...sandboxes.values()]
				.filter((box) => box.appId === appId && running(box) && (!beforeTimestamp || box.createdAt < beforeTimestamp))
				.sort((a, b) => b.createdAt - a.createdAt)
				.slice(0, 2)
				.map(({ id, createdAt, tags, definition: { name, timeoutSecs } }) => ({ id, createdAt, appId, tags, name: name ?? "", timeoutSecs })),
		}),
		...{ sandboxTagsGetV2: tagsOf, sandboxTagsGet: tagsOf, sandboxWaitV2: wait, sandboxWait: wait, sandboxTerminateV2: terminate, sandboxTerminate: terminate },
		sandboxGetTaskIdV2: async (request: ById) => taskOf(request),
		sandboxGetTaskId: async (request: ById) => taskOf(request),
		sandboxGetCommandRouterAccess: async ({ sandboxId }: ById) => accessTo(byId(sandboxId)),
		taskGetCommandRouterAccess: async ({ taskId }: { taskId: string }) => accessTo(byTask(taskId)),
	};

	type ByExec = { taskId: string; execId: string };
	const execOf = ({ taskId, execId }: ByExec) => byTask(taskId).execs.get(execId) ?? fail("NOT_FOUND", `no exec ${execId}`);
	/** Waits until there is something new of it, or the caller is gone. */
	const news = (one: Exec, signal: AbortSignal) =>
		new Promise<void>((resolve) => {
			const wake = () => {
				one.wakes.delete(wake);
				signal.removeEventListener("abort", wake);
				resolve();
			};
			one.wakes.add(wake);
			signal.addEventListener("abort", wake);
		});
	const exitOf = ({ exit }: Exec) => (exit?.signal ? { signal: exit.signal } : { code: exit?.code ?? 0 });

	const routerCalls: Record<string, unknown> = {
		taskExecStart: async (request: ByExec & { commandArgs: string[]; workdir?: string; secretSources: SecretSource[] }) => {
			const box = byTask(request.taskId);
			if (!running(box)) fail("FAILED_PRECONDITION", "the sandbox has finished");
			if (box.execs.has(request.execId)) return {}; // asked again after a break
			const child = (box.room as Room).exec(request.commandArgs, { env: { ...box.env, ...contents(request.secretSources) } });
			const one: Exec = { child, parts: [[], []], written: 0, closed: false, wakes: new Set() };
			const tell = () => {
				for (const wake of [...one.wakes]) wake();
			};
			[child.stdout, child.stderr].forEach((stream, at) => {
				stream.on("data", (bytes: Buffer) => {
					one.parts[at as 0 | 1].push(bytes);
					tell();
				});
			});
			child.on("close", (code, signal) => {
				one.exit = { code: code ?? 0, signal: signal ? (SIGNALS[signal] ?? 9) : 0 };
				tell();
			});
			box.execs.set(request.execId, one);
			return {};
		},
		async *taskExecStdioRead(request: ByExec & { offset: number; fileDescriptor: 0 | 1 }, { signal }: CallContext) {
			const one = execOf(request);
			let cut = false;
			const stop = () => {
				cut = true;
				for (const wake of [...one.wakes]) wake();
			};
			cuts.add(stop);
			try {
				for (let at = request.offset; ; ) {
					let from = 0;
					for (const bytes of one.parts[request.fileDescriptor]) {
						if (cut) fail("UNAVAILABLE", "the router is restarted");
						if (from + bytes.length > at) {
							yield { data: bytes.subarray(at - from) };
							at = from + bytes.length;
						}
						from += bytes.length;
					}
					if (cut) fail("UNAVAILABLE", "the router is restarted");
					if (one.exit !== undefined || signal.aborted) return;
					await news(one, signal);
				}
			} finally {
				cuts.delete(stop);
			}
		},
		taskExecStdinWrite: async (request: ByExec & { offset: number; data: Buffer; eof: boolean }) => {
			const one = execOf(request);
			if (request.offset > one.written && request.data.length > 0) fail("OUT_OF_RANGE", `offset ${request.offset}, but ${one.written} bytes have come`);
			const fresh = request.data.subarray(Math.max(0, one.written - request.offset)); // what came before a break is not written again
			one.written += fresh.length;
			if (fresh.length > 0)
				await new Promise<void>((resolve, reject) =>
					one.child.stdin.write(fresh, (error) => (error ? reject(new ServerError(Status.FAILED_PRECONDITION, "stdin is closed")) : resolve())),
				);
			if (request.eof) {
				one.closed = true;
				one.child.stdin.end();
			}
			return {};
		},
		taskExecWait: async (request: ByExec, { signal }: CallContext) => {
			const one = execOf(request);
			while (one.exit === undefined && !signal.aborted) await news(one, signal);
			return exitOf(one);
		},
		taskSnapshotFilesystem: async ({ taskId }: { taskId: string }) => {
			const { room } = byTask(taskId);
			const dir = path.join(tempDir("snapshot"), "files");
			fs.mkdirSync(dir);
			execFileSync("sh", ["-c", 'tar -C "$1" --one-file-system -cf - . | tar -C "$2" -xf -', "copy", `/proc/${room?.pid}/root`, dir]);
			const imageId = `im-${randomBytes(11).toString("hex")}`;
			double.built.set(imageId, dir);
			return { imageId };
		},
	};

	/** What it does not know is answered as a server would, and noted. */
	const whole = (service: typeof control, own: Record<string, unknown>) =>
		Object.fromEntries(
			Object.entries(service.methods).map(([name, { responseStream }]) => {
				const missing = () => {
					unknown.push(name);
					fail("UNIMPLEMENTED", name);
				};
				return [
					name,
					own[name] ??
						(responseStream
							? async function* () {
									yield missing();
								}
							: async () => missing()),
				];
			}),
		);
	const server = createServer({ "grpc.max_receive_message_length": 100 * 1024 * 1024 }).use(async function* (call, context) {
		const method = call.method.path.replace(/.*\//, "");
		const given = (name: string) => String(context.metadata.get(name) ?? "");
		double.calls.push(`${method} ${JSON.stringify(call.request)}`);
		if (double.expired) fail("UNAUTHENTICATED", "the token has expired");
		if (call.method.path.includes("TaskCommandRouter")) {
			if (!jwts.has(given("authorization").replace(/^Bearer /, ""))) fail("UNAUTHENTICATED", "no such access");
		} else if (given("x-modal-token-id") !== double.tokenId || given("x-modal-token-secret") !== double.tokenSecret)
			fail("UNAUTHENTICATED", "Token ID is malformed or unknown");
		const refused = double.refuses?.(method);
		if (refused) fail(refused.code, refused.message);
		return yield* call.next(call.request, context);
	});
	server.add(control as never, whole(control, controlCalls) as never);
	server.add(router as never, whole(router, routerCalls) as never);
	const port = await server.listen("127.0.0.1:0");

	const double: ModalDouble = {
		url: `http://127.0.0.1:${port}`,
		tokenId: "ak-of-the-double",
		tokenSecret: "as-of-the-double",
		sandboxes,
		apps: new Map(),
		secrets: new Map(),
		volumes: new Set(),
		built: new Map(),
		calls: [],
		queued: false,
		expired: false,
		cut: () => {
			for (const one of [...cuts]) one();
		},
		end: (id, result) => end(byId(id), result),
	};
	atEnd(() => {
		for (const box of sandboxes.values()) end(box, { status: RESULT.terminated });
		server.forceShutdown();
		expect(unknown).toEqual([]); // nothing was called that the double does not know
	});
	return double;
}

/** Sets Modal's own variables, as a person has them, until the test (or the file) is over. */
export function useModal({ url, tokenId, tokenSecret }: Pick<ModalDouble, "url" | "tokenId" | "tokenSecret">): void {
	const state = tempDir("state"); // whose sandboxes are is in files of the user's
	const wanted: Record<string, string> = {
		XDG_STATE_HOME: state,
		MODAL_SERVER_URL: url,
		MODAL_TOKEN_ID: tokenId,
		MODAL_TOKEN_SECRET: tokenSecret,
		MODAL_CONFIG_PATH: "/dev/null",
	};
	for (const [name, value] of Object.entries(wanted)) {
		const before = process.env[name];
		process.env[name] = value;
		atEnd(() => {
			if (before === undefined) delete process.env[name];
			else process.env[name] = before;
		});
	}
}
