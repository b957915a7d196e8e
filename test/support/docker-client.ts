/** What tests ask a Docker engine for and do to containers behind Holdfast's back, without a line of the client under test. */
import fs from "node:fs";
import http from "node:http";
import { buffer } from "node:stream/consumers";

/** As much of the engine's answer as tests look at. */
export interface Inspected {
	readonly Id: string;
	readonly Name: string;
	readonly Created: string;
	readonly State: { readonly Status: string; readonly Running: boolean; readonly ExitCode: number; readonly StartedAt: string; readonly Pid: number };
	readonly Config: { readonly Image: string; readonly Labels: Readonly<Record<string, string>> };
	readonly HostConfig: Readonly<Record<string, unknown>>;
	readonly Mounts: readonly { readonly Name?: string; readonly Destination: string }[];
	readonly ExecIDs?: readonly string[] | null;
}

export class TestDocker {
	readonly #socket: string;

	constructor(socket: string) {
		this.#socket = socket;
	}

	/** Rejects with `statusCode` when the engine refuses. */
	async request(method: string, path: string, body?: string | fs.ReadStream, headers: Record<string, string> = {}): Promise<unknown> {
		const request = http.request({ socketPath: this.#socket, method, path, agent: false, headers });
		const answer = new Promise<http.IncomingMessage>((resolve, reject) => request.once("response", resolve).once("error", reject));
		if (body instanceof fs.ReadStream) body.pipe(request);
		else request.end(body);
		const message = await answer;
		const text = (await buffer(message)).toString("utf8");
		const statusCode = message.statusCode ?? 0;
		if (statusCode > 299) throw Object.assign(new Error(`${method} ${path}: ${statusCode} ${text}`), { statusCode });
		return message.headers["content-type"]?.includes("json") && text.trim() !== "" ? (JSON.parse(text.trim().split("\n").at(-1) as string) as unknown) : text;
	}

	ping(): Promise<unknown> {
		return this.request("GET", "/_ping");
	}

	async listContainers(): Promise<{ Id: string }[]> {
		return (await this.request("GET", "/containers/json?all=1")) as { Id: string }[];
	}

	getContainer(id: string): TestContainer {
		return new TestContainer(this, id);
	}

	async createContainer({ name, ...body }: { name: string; [key: string]: unknown }): Promise<TestContainer> {
		await this.request("POST", `/containers/create?name=${name}`, JSON.stringify(body), JSON_HEADERS);
		return this.getContainer(name);
	}

	/** An image of a container, with instructions of a Dockerfile on top. */
	async commit(container: string, repo: string, changes: string): Promise<void> {
		await this.request("POST", `/commit?${new URLSearchParams({ container, repo, tag: "1", changes })}`, "{}", JSON_HEADERS);
	}

	async importImage(file: string, { repo, tag, changes }: { repo: string; tag?: string; changes?: string }): Promise<void> {
		const query = new URLSearchParams({ fromSrc: "-", repo, ...(tag && { tag }), ...(changes && { changes }) });
		done(await this.request("POST", `/images/create?${query}`, fs.createReadStream(file), { "Content-Type": "application/x-tar" }));
	}

	getImage(name: string): { tag(to: { repo: string; tag: string }): Promise<unknown>; push(): Promise<void>; remove(): Promise<unknown> } {
		return {
			tag: (to) => this.request("POST", `/images/${name}/tag?${new URLSearchParams(to)}`),
			push: async () => done(await this.request("POST", `/images/${name}/push`, undefined, { "X-Registry-Auth": Buffer.from("{}").toString("base64") })),
			remove: () => this.request("DELETE", `/images/${name}`),
		};
	}

	getVolume(name: string): { inspect(): Promise<unknown> } {
		return { inspect: () => this.request("GET", `/volumes/${name}`) };
	}
}

export class TestContainer {
	readonly #docker: TestDocker;
	readonly #at: string;

	constructor(docker: TestDocker, id: string) {
		this.#docker = docker;
		this.#at = `/containers/${id}`;
	}

	async inspect(): Promise<Inspected> {
		return (await this.#docker.request("GET", `${this.#at}/json`)) as Inspected;
	}

	remove({ force = false, v = false }: { force?: boolean; v?: boolean } = {}): Promise<unknown> {
		return this.#docker.request("DELETE", `${this.#at}?force=${force}&v=${v}`);
	}

	start(): Promise<unknown> {
		return this.#post("start");
	}

	stop({ t }: { t: number }): Promise<unknown> {
		return this.#post(`stop?t=${t}`);
	}

	pause(): Promise<unknown> {
		return this.#post("pause");
	}

	kill(): Promise<unknown> {
		return this.#post("kill");
	}

	wait(): Promise<unknown> {
		return this.#post("wait");
	}

	async top({ ps_args }: { ps_args: string }): Promise<{ Processes: string[][] }> {
		return (await this.#docker.request("GET", `${this.#at}/top?${new URLSearchParams({ ps_args })}`)) as { Processes: string[][] };
	}

	#post(what: string): Promise<unknown> {
		return this.#docker.request("POST", `${this.#at}/${what}`);
	}
}

const JSON_HEADERS = { "Content-Type": "application/json" };

/** The last line of what an image call did may be why it did not. */
function done(last: unknown): void {
	const error = (last as { error?: string } | undefined)?.error;
	if (error !== undefined) throw new Error(error);
}
