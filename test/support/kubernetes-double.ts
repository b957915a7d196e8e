/**
 * A double of the part of the Kubernetes API that a pod as a place needs: discovery, pods (create, get, list by label, delete) and exec over WebSocket
 * (v5.channel.k8s.io), as kubectl speaks it. Commands really run, each pod in a room of its own. A call that it does not know is answered with 500 and
 * noted, and a test that made one fails. Not in it: SPDY, watch, scheduling, admission, eviction; a test sets what they would say.
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { Duplex } from "node:stream";
import { expect } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { makeCertificates } from "./certificates.js";
import { atEnd, tempDir } from "./home.js";
import { makeRoom, noRoom, type Room } from "./room.js";

const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, close: 255 } as const;
const TOKEN = "token-of-the-double";
const NAMESPACE = "dev";
const NODE_AWAY = "error dialing backend: dial tcp 127.0.0.1:10250: connect: connection refused";

interface Status {
	readonly code: number;
	readonly reason: string;
	readonly message: string;
}

interface PodObject {
	metadata: { name: string; uid?: string; deletionTimestamp?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
	spec: { activeDeadlineSeconds?: number; containers: { name: string; image: string; command: string[]; env?: unknown }[]; [key: string]: unknown };
	status?: Record<string, unknown>;
}

interface DoublePod {
	readonly object: PodObject;
	room?: Room;
	timer?: NodeJS.Timeout;
}

export interface KubernetesDouble {
	readonly namespace: string;
	/** A kubeconfig of its own, with the token in it. */
	readonly kubeconfig: string;
	readonly token: string;
	readonly pods: Map<string, DoublePod>;
	/** What the server says to a new pod, in place of making it. */
	refuses?: ((pod: PodObject) => Status | undefined) | undefined;
	/** What keeps new pods from a node. */
	unschedulable?: string | undefined;
	/** Why a node cannot have an image; without it, unknown images are not found. */
	imageError?: { reason: string; message: string } | undefined;
	/** What every new pod ends with, instead of starting. */
	endsAtOnce?: Record<string, unknown> | undefined;
	/** The server cannot reach the node: it answers for pods, and has no streams to them. */
	nodeAway: boolean;
	/** The server takes connections and drops them, as the load balancer before one that is restarted. */
	serverAway: boolean;
	/** The token has expired. */
	expired: boolean;
	/** Ends all streams without a word, as when the server is restarted. */
	cut(): void;
	/** The end of a pod, as the cluster would write it down. */
	end(name: string, status: Record<string, unknown>): void;
	/** Method, path and body of every call. */
	readonly calls: string[];
}

/** Why there can be none here; undefined when there can. */
export function noKubernetes(): string | undefined {
	if (noRoom !== undefined) return noRoom;
	try {
		const { clientVersion } = JSON.parse(
			execFileSync("kubectl", ["version", "--client", "-o", "json"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], env: withKubectl() }),
		);
		const [, minor = "0"] = /^v1\.(\d+)/.exec(clientVersion.gitVersion) ?? [];
		return Number(minor) >= 31 ? undefined : `kubectl is ${clientVersion.gitVersion}, and 1.31 is the first that speaks to the double`;
	} catch {
		return "kubectl is not installed, and could not be fetched (npm test does)";
	}
}

/** The machine's own kubectl, else the one that scripts/newer.mjs has fetched. */
const withKubectl = (): NodeJS.ProcessEnv => ({ ...process.env, PATH: `${process.env.PATH}:${path.join(process.env.TEST_CACHE ?? "", "kubectl/usr/bin")}` });

export function useKubectl(): void {
	const before = process.env.PATH;
	process.env.PATH = withKubectl().PATH as string;
	atEnd(() => {
		process.env.PATH = before;
	});
}

const DISCOVERY: Readonly<Record<string, object>> = {
	"/version": { major: "1", minor: "33", gitVersion: "v1.33.0" },
	"/api": { kind: "APIVersions", versions: ["v1"] },
	"/apis": { kind: "APIGroupList", apiVersion: "v1", groups: [] },
	"/api/v1": {
		kind: "APIResourceList",
		groupVersion: "v1",
		resources: [
			{ name: "pods", singularName: "pod", namespaced: true, kind: "Pod", verbs: ["create", "delete", "get", "list"], shortNames: ["po"] },
			{ name: "pods/exec", singularName: "", namespaced: true, kind: "PodExecOptions", verbs: ["create", "get"] },
		],
	},
};

const failure = (code: number, reason: string, message: string): [number, object] => [
	code,
	{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code },
];

/** `images`: names and the directories with their files. `shown`: directories that are in every pod at the same path. Closed when the test, or the file, is over. */
export async function kubernetesDouble(images: Readonly<Record<string, string>>, shown: readonly string[] = []): Promise<KubernetesDouble> {
	const dir = tempDir("kubernetes");
	makeCertificates(dir);
	const pods = new Map<string, DoublePod>();
	const unknown: string[] = [];
	const sockets = new WebSocketServer({
		noServer: true,
		perMessageDeflate: false,
		handleProtocols: (offered) => (offered.has("v5.channel.k8s.io") ? "v5.channel.k8s.io" : false),
	});

	const show = (object: PodObject, phase: string, state: object, more: Record<string, unknown> = {}) => {
		object.status = { ...object.status, phase, containerStatuses: object.spec.containers.map(({ name, image }) => ({ name, image, state })), ...more };
	};
	const begin = async (pod: DoublePod): Promise<void> => {
		const { object } = pod;
		const [container] = object.spec.containers as [PodObject["spec"]["containers"][number]];
		if (double.unschedulable !== undefined) {
			const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: double.unschedulable };
			object.status = { phase: "Pending", conditions: [condition] };
			return;
		}
		if (double.endsAtOnce !== undefined) {
			object.status = { ...double.endsAtOnce, startTime: new Date().toISOString() };
			return;
		}
		show(object, "Pending", { waiting: { reason: "ContainerCreating" } }, { startTime: new Date().toISOString() });
		const rootfs = images[container.image];
		if (rootfs === undefined || double.imageError !== undefined) {
			show(object, "Pending", {
				waiting: double.imageError ?? { reason: "ErrImagePull", message: `failed to pull image "${container.image}": manifest unknown: not found` },
			});
			return;
		}
		const room = await makeRoom(rootfs, shown);
		if (pods.get(object.metadata.name) !== pod) return room.stop(); // deleted meanwhile
		pod.room = room;
		show(object, "Running", { running: { startedAt: new Date().toISOString() } }, { conditions: [{ type: "Ready", status: "True" }] });
		// Its own main process; when it ends, so does the pod.
		const main = room.exec(container.command, { env: VARIABLES });
		main.once("exit", (code, signal) => {
			if (object.status?.phase === "Running")
				show(object, code === 0 ? "Succeeded" : "Failed", {
					terminated: { exitCode: code ?? 137, reason: signal ? "Error" : code === 0 ? "Completed" : "Error" },
				});
			room.stop();
		});
		const seconds = object.spec.activeDeadlineSeconds;
		if (seconds !== undefined)
			pod.timer = setTimeout(() => double.end(object.metadata.name, { phase: "Failed", reason: "DeadlineExceeded" }), seconds * 1000).unref();
	};
	const remove = (name: string) => {
		const pod = pods.get(name);
		clearTimeout(pod?.timer);
		pod?.room?.stop();
		pods.delete(name);
	};

	const answer = async (request: IncomingMessage, body: string): Promise<[number, object]> => {
		const url = new URL(request.url ?? "", "https://x");
		double.calls.push(`${request.method} ${url.pathname}${url.search} ${body}`);
		if (request.headers.authorization !== `Bearer ${TOKEN}` || double.expired) return failure(401, "Unauthorized", "Unauthorized");
		const fixed = DISCOVERY[url.pathname];
		if (request.method === "GET" && fixed) return [200, fixed];
		const [, namespace, name, sub] = /^\/api\/v1\/namespaces\/([^/]+)\/pods(?:\/([^/]+))?(?:\/(\w+))?$/.exec(url.pathname) ?? [];
		const what = `${request.method} ${name === undefined ? "pods" : sub === undefined ? "pod" : sub}`;
		if (namespace !== undefined && namespace !== NAMESPACE) return failure(404, "NotFound", `namespaces "${namespace}" not found`);
		if (namespace !== undefined && what === "POST pods") {
			const object = JSON.parse(body) as PodObject;
			const refused = double.refuses?.(object);
			if (refused) return failure(refused.code, refused.reason, refused.message);
			if (pods.has(object.metadata.name)) return failure(409, "AlreadyExists", `pods "${object.metadata.name}" already exists`);
			Object.assign(object.metadata, { namespace, uid: randomUUID(), creationTimestamp: new Date().toISOString(), resourceVersion: "1" });
			object.status = { phase: "Pending" };
			const pod: DoublePod = { object };
			pods.set(object.metadata.name, pod);
			setImmediate(() => void begin(pod));
			return [201, object];
		}
		if (namespace !== undefined && what === "GET pods") {
			const wanted = (url.searchParams.get("labelSelector") ?? "")
				.split(",")
				.filter(Boolean)
				.map((one) => one.split("="));
			const fits = ({ object }: DoublePod) => wanted.every(([key = "", value]) => object.metadata.labels?.[key] === value);
			return [200, { kind: "PodList", apiVersion: "v1", metadata: {}, items: [...pods.values()].filter(fits).map(({ object }) => object) }];
		}
		const pod = name === undefined ? undefined : pods.get(name);
		if (namespace !== undefined && name !== undefined && ["GET pod", "DELETE pod", "GET exec", "POST exec"].includes(what)) {
			if (!pod) return failure(404, "NotFound", `pods "${name}" not found`);
			if (what === "GET pod") return [200, pod.object];
			if (what === "DELETE pod") {
				pod.object.metadata.deletionTimestamp = new Date().toISOString();
				setTimeout(() => pods.get(name) === pod && remove(name), 100).unref();
				return [200, pod.object];
			}
			if (double.nodeAway) return failure(500, "InternalError", NODE_AWAY);
			if (pod.object.status?.phase !== "Running")
				return failure(400, "BadRequest", `cannot exec into a container in a completed pod; current phase is ${pod.object.status?.phase}`);
			return [0, pod.object];
		}
		// kubectl looks whether the namespace is why there is no such pod. A user with the rights of docs/places.md may not.
		if (request.method === "GET" && /^\/api\/v1\/namespaces\/[^/]+$/.test(url.pathname))
			return failure(403, "Forbidden", `namespaces "${path.basename(url.pathname)}" is forbidden: User "u" cannot get resource "namespaces"`);
		unknown.push(`${request.method} ${url.pathname}`);
		return failure(500, "InternalError", `the double does not know ${request.method} ${url.pathname}`);
	};

	const server = https.createServer(
		{ key: fs.readFileSync(path.join(dir, "server-key.pem")), cert: fs.readFileSync(path.join(dir, "server-cert.pem")) },
		async (request, response) => {
			let body = "";
			for await (const part of request) body += part;
			const [code, object] = await answer(request, body);
			response.writeHead(code === 0 ? 400 : code, { "content-type": "application/json" }).end(JSON.stringify(object));
		},
	);
	server.on("connection", (socket) => double.serverAway && socket.destroy());
	server.on("upgrade", async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
		const [code, object] = await answer(request, "");
		if (code !== 0) return void socket.end(`HTTP/1.1 ${code} no\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${JSON.stringify(object)}`);
		const pod = pods.get((object as PodObject).metadata.name) as DoublePod;
		sockets.handleUpgrade(request, socket, head, (ws) => serve(ws, pod.room as Room, new URL(request.url ?? "", "https://x").searchParams));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

	const kubeconfig = path.join(dir, "config");
	const cluster = { server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, "certificate-authority": path.join(dir, "ca.pem") };
	const contexts = [{ name: "double", context: { cluster: "double", user: "double", namespace: NAMESPACE } }];
	const config = {
		apiVersion: "v1",
		kind: "Config",
		"current-context": "double",
		clusters: [{ name: "double", cluster }],
		users: [{ name: "double", user: { token: TOKEN } }],
		contexts,
	};
	fs.writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
	const double: KubernetesDouble = {
		namespace: NAMESPACE,
		kubeconfig,
		token: TOKEN,
		pods,
		expired: false,
		nodeAway: false,
		serverAway: false,
		calls: [],
		cut: () => {
			for (const client of sockets.clients) client.terminate();
		},
		end: (name, status) => {
			const pod = pods.get(name);
			if (!pod) return;
			pod.object.status = { ...pod.object.status, ...status };
			pod.room?.stop();
		},
	};
	atEnd(async () => {
		for (const name of [...pods.keys()]) remove(name);
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
		expect(unknown).toEqual([]); // nothing was asked that the double does not know
	});
	return double;
}

const VARIABLES = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/root", KUBERNETES_SERVICE_HOST: "10.0.0.1" };

/** One command: a message begins with the number of its channel. */
function serve(ws: WebSocket, room: Room, query: URLSearchParams): void {
	const wants = (what: string) => ["true", "1"].includes(query.get(what) ?? "");
	const child = room.exec(query.getAll("command"), { env: VARIABLES });
	const send = (channel: number, bytes: Buffer) => {
		if (ws.readyState !== ws.OPEN) return;
		ws.send(Buffer.concat([Buffer.from([channel]), bytes]));
		if (ws.bufferedAmount < 1 << 20) return;
		child.stdout.pause();
		setTimeout(() => child.stdout.resume(), 5);
	};
	if (wants("stdout")) {
		send(CHANNEL.stdout, Buffer.alloc(0)); // as the real server: the channel begins
		child.stdout.on("data", (bytes: Buffer) => send(CHANNEL.stdout, bytes));
	} else child.stdout.resume();
	child.stderr.on("data", (bytes: Buffer) => wants("stderr") && send(CHANNEL.stderr, bytes));
	if (!wants("stdin")) child.stdin.end();
	ws.on("message", (data: Buffer) => {
		if (data[0] === CHANNEL.stdin) child.stdin.write(data.subarray(1));
		else if (data[0] === CHANNEL.close && data[1] === CHANNEL.stdin) child.stdin.end();
	});
	ws.on("close", () => child.stdin.end()); // nobody kills the command: it sees the end of its input
	child.on("close", (code, signal) => {
		const exit = signal ? 137 : (code ?? 0);
		const said =
			exit === 0
				? { metadata: {}, status: "Success" }
				: {
						metadata: {},
						status: "Failure",
						message: `command terminated with non-zero exit code: exit status ${exit}`,
						reason: "NonZeroExitCode",
						details: { causes: [{ reason: "ExitCode", message: String(exit) }] },
					};
		send(CHANNEL.error, Buffer.from(JSON.stringify(said)));
		ws.close(1000);
	});
}
