/**
 * A double of MorphCloud: its REST calls for instances and keys, and a real sshd in the place of the gateway, where a login is the id of an instance. Commands
 * really run, each instance in a room of its own. A call that it does not know is answered with 500 and noted, and a test that made one fails. Written from
 * the public SDKs and documentation, not from the service. Not in it: quotas, the time that a boot takes, wake-on-ssh.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import path from "node:path";
import { expect } from "vitest";
import { readProc } from "../../src/base/proc.js";
import { atEnd, tempDir, testRoot } from "./home.js";
import { freePort } from "./ports.js";
import { makeRoom, noRoom, type Room } from "./room.js";
import { noSshd } from "./sshd.js";

/** Why there can be none here; undefined when there can. */
export const noMorph: string | undefined = noRoom ?? noSshd;

const API_KEY = "morph-key-of-the-double";

interface DoubleInstance {
	readonly id: string;
	status: "pending" | "ready" | "paused" | "saving" | "error";
	readonly snapshot: string;
	readonly metadata: Record<string, string>;
	readonly created: number;
	readonly password: string;
	ttl?: { readonly ttl_seconds: number; readonly ttl_action: string };
	timer?: NodeJS.Timeout;
	room?: Room;
}

export interface MorphDouble {
	readonly instances: Map<string, DoubleInstance>;
	readonly apiKey: string;
	/** Method, path and body of every call. */
	readonly calls: string[];
	/** What is answered in place of every answer. */
	refuses?: { readonly status: number; readonly detail: string } | undefined;
	/** New instances stay like this. */
	stuck?: DoubleInstance["status"] | undefined;
	/** Somebody else boots one with the same metadata just before each boot. */
	overtaken?: boolean;
	/** Keys come with a passphrase, which is the password beside them. */
	locked: boolean;
	pause(id: string): void;
	/** As when its host fails: it is given up. */
	fail(id: string): void;
	stop(id: string): void;
	/** The gateway drops the connections to it. */
	cut(id: string): void;
}

const ENTER = (dir: string, variables: string) => `#!/bin/sh
read -r pid <"${dir}/rooms/$LOGNAME" || { echo "instance $LOGNAME is not running" >&2; exit 254; }
exec nsenter -t "$pid" -a -r --wd=/proc/$pid/root/root -- env -i HOME=/root USER=root LOGNAME=root PATH=/usr/local/bin:/usr/bin:/bin ${variables} sh -c "\${SSH_ORIGINAL_COMMAND:-exec sh -l}"
`;

/** `snapshots`: ids and the directories with their files. `shown`: directories that are in every instance at the same path. Used by this program, and closed, until the test or the file is over. */
export async function morphDouble(snapshots: Readonly<Record<string, string>>, shown: readonly string[] = []): Promise<MorphDouble> {
	const dir = tempDir("morph");
	const at = (...names: string[]) => path.join(dir, ...names);
	for (const open of [testRoot(), dir]) fs.chmodSync(open, 0o711);
	for (const made of ["rooms", "keys", "etc"]) fs.mkdirSync(at(made));
	makeKey(at("host"), "");
	fs.writeFileSync(at("enter"), ENTER(dir, `TEST_ROOT=${testRoot()}`), { mode: 0o755 });
	fs.writeFileSync(at("etc/passwd"), fs.readFileSync("/etc/passwd")); // only this sshd sees it
	const port = await freePort();
	const config = [
		...[
			`Port ${port}`,
			"ListenAddress 127.0.0.1",
			`HostKey ${at("host")}`,
			"PidFile none",
			`AuthorizedKeysFile ${at("keys")}/%u.pub`,
			"UsePAM no",
			"StrictModes no",
		],
		...["PermitRootLogin prohibit-password", "PasswordAuthentication no", `ForceCommand ${at("enter")}`, "MaxStartups 100:30:200", ""],
	];
	fs.writeFileSync(at("sshd_config"), config.join("\n"));
	fs.mkdirSync("/run/sshd", { recursive: true });
	const log = fs.openSync(at("log"), "w");
	const mounted = `mount -t overlay -o 'lowerdir=${dir}/etc:/etc' overlay /etc && exec /usr/sbin/sshd -D -e -f '${dir}/sshd_config'`;
	// Without TEST_ROOT: its sessions are the gateway's, not something that a test has left behind.
	const sshd = spawn("unshare", ["--mount", "sh", "-c", mounted], { stdio: ["ignore", log, log], env: { PATH: process.env.PATH } });
	fs.closeSync(log);
	const gone = new Promise<void>((resolve) => sshd.once("exit", () => resolve()));

	const instances = new Map<string, DoubleInstance>();
	const unknown: string[] = [];
	/** The gateway ends the connections to an instance that is gone. */
	const cut = (id: string) => {
		for (const pid of fs.readdirSync("/proc").filter((one) => /^\d+$/.test(one)))
			if (readProc(`/proc/${pid}/cmdline`)?.startsWith(`sshd: ${id}`)) spawnSync("kill", ["-9", pid]);
	};
	const end = (one: DoubleInstance) => {
		clearTimeout(one.timer);
		instances.delete(one.id);
		fs.rmSync(at("rooms", one.id), { force: true });
		if (one.status === "paused") one.room?.signal("SIGCONT");
		one.room?.stop();
		cut(one.id);
	};
	const pause = (one: DoubleInstance) => {
		one.status = "paused";
		one.room?.signal("SIGSTOP");
	};
	const setTtl = (one: DoubleInstance, seconds: number, action: string) => {
		clearTimeout(one.timer);
		one.ttl = { ttl_seconds: seconds, ttl_action: action };
		one.timer = setTimeout(() => (action === "pause" ? pause(one) : end(one)), seconds * 1000).unref();
	};
	const boot = async (snapshot: string, body: { metadata?: Record<string, string>; ttl_seconds?: number; ttl_action?: string }): Promise<DoubleInstance> => {
		const id = `morphvm_${randomBytes(4).toString("hex")}`;
		const one: DoubleInstance = {
			id,
			status: double.stuck ?? "pending",
			snapshot,
			metadata: body.metadata ?? {},
			created: Date.now() / 1000,
			password: double.locked ? randomBytes(8).toString("hex") : "",
		};
		instances.set(id, one);
		if (body.ttl_seconds) setTtl(one, body.ttl_seconds, body.ttl_action ?? "stop");
		makeKey(at("keys", id), one.password);
		fs.appendFileSync(at("etc/passwd"), `${id}:x:0:0::/root:/bin/sh\n`);
		if (double.stuck === undefined)
			void makeRoom(snapshots[snapshot] as string, shown).then((room) => {
				one.room = room;
				if (!instances.has(id)) return room.stop();
				fs.writeFileSync(at("rooms", id), `${room.pid}\n`);
				one.status = "ready";
			});
		return one;
	};
	const shownAs = ({ id, status, snapshot, metadata, created, ttl }: DoubleInstance) => ({
		...{
			id,
			object: "instance",
			created,
			status,
			spec: { vcpus: 1, memory: 512, disk_size: 1024 },
			refs: { snapshot_id: snapshot, image_id: "image_1" },
			metadata,
		},
		...{ networking: { internal_ip: "10.0.0.2", http_services: [] }, ttl: ttl ?? {}, wake_on: { wake_on_ssh: false, wake_on_http: false } },
	});

	const answer = async (method: string, url: URL, body: Record<string, unknown>): Promise<[number, object]> => {
		const [, , kind, id, act, more] = url.pathname.split("/");
		const what = `${method} ${kind}${id === undefined ? "" : "/ID"}${act === undefined ? "" : `/${act}`}${more === undefined ? "" : `/${more}`}`;
		if (what === "POST snapshot/ID/boot") {
			if (!snapshots[id as string]) return [404, { detail: `Snapshot ${id} not found` }];
			if (double.overtaken) await boot(id as string, body);
			return [200, shownAs(await boot(id as string, body))];
		}
		if (what === "GET instance") {
			const wanted = [...url.searchParams].map(([name, value]) => [/^metadata\[(.*)\]$/.exec(name)?.[1] ?? name, value]);
			return [
				200,
				{ object: "list", data: [...instances.values()].filter(({ metadata }) => wanted.every(([name = "", value]) => metadata[name] === value)).map(shownAs) },
			];
		}
		const one = id === undefined ? undefined : instances.get(id);
		if (
			![
				"GET instance/ID",
				"DELETE instance/ID",
				"GET instance/ID/ssh/key",
				"POST instance/ID/pause",
				"POST instance/ID/resume",
				"POST instance/ID/ttl",
			].includes(what)
		) {
			unknown.push(`${method} ${url.pathname}`);
			return [500, { detail: `the double does not know ${method} ${url.pathname}` }];
		}
		if (!one) return [404, { detail: `Instance ${id} not found` }];
		if (what === "DELETE instance/ID") end(one);
		if (what === "POST instance/ID/pause") pause(one);
		if (what === "POST instance/ID/ttl") setTtl(one, Number(body.ttl_seconds), String(body.ttl_action));
		if (what === "POST instance/ID/resume") {
			one.room?.signal("SIGCONT");
			one.status = "ready";
		}
		if (what === "GET instance/ID/ssh/key")
			return [
				200,
				{
					object: "instance_ssh_key",
					private_key: fs.readFileSync(at("keys", one.id), "utf8"),
					public_key: fs.readFileSync(at("keys", `${one.id}.pub`), "utf8"),
					password: one.password,
				},
			];
		return [200, shownAs(one)];
	};
	const server = http.createServer(async (request, response) => {
		let body = "";
		for await (const part of request) body += part;
		double.calls.push(`${request.method} ${request.url} ${body}`);
		const allowed = request.headers.authorization === `Bearer ${API_KEY}`;
		const [code, object] = !allowed
			? [401, { detail: "Invalid API key" }]
			: double.refuses
				? [double.refuses.status, { detail: double.refuses.detail }]
				: await answer(request.method ?? "", new URL(request.url ?? "", "http://x"), body ? JSON.parse(body) : {});
		response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(object));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

	const variables = {
		MORPH_API_KEY: API_KEY,
		MORPH_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
		MORPH_SSH_HOSTNAME: "127.0.0.1",
		MORPH_SSH_PORT: String(port),
	};
	const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
	Object.assign(process.env, variables);
	const double: MorphDouble = {
		instances,
		apiKey: API_KEY,
		calls: [],
		locked: false,
		pause: (id) => pause(instances.get(id) as DoubleInstance),
		fail: (id) => {
			const one = instances.get(id) as DoubleInstance;
			one.status = "error";
			one.room?.stop();
			cut(id);
		},
		stop: (id) => end(instances.get(id) as DoubleInstance),
		cut,
	};
	atEnd(async () => {
		for (const [name, value] of Object.entries(before)) {
			if (value === undefined) delete process.env[name];
			else process.env[name] = value;
		}
		for (const one of [...instances.values()]) end(one);
		sshd.kill();
		await gone;
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
		expect(unknown).toEqual([]); // nothing was asked that the double does not know
	});
	while (!(await listens(port))) {
		if (sshd.exitCode !== null) throw new Error(`sshd did not start: ${fs.readFileSync(at("log"), "utf8")}`);
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
	return double;
}

const listens = (port: number): Promise<boolean> =>
	new Promise((resolve) => {
		const socket = net.connect(port, "127.0.0.1");
		socket.once("error", () => resolve(false));
		socket.once("connect", () => {
			socket.destroy();
			resolve(true);
		});
	});

function makeKey(file: string, passphrase: string): void {
	execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", passphrase, "-C", "double", "-f", file]);
}
