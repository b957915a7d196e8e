/** The connection to a NATS server with JetStream. Its clients are optional packages, which are loaded only here. */
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { JetStreamClient, JetStreamManager, JsMsg, StoredMsg, StreamInfo } from "@nats-io/jetstream";
import type { ObjectStore } from "@nats-io/obj";
import type { NatsConnection } from "@nats-io/transport-node";
import { AgentError } from "../base/index.js";
import { FILES, JOBS, RESULTS, SUBJECTS, WORKERS } from "./job.js";

export interface JobQueueOptions {
	/** nats://host:4222, or tls://…; several with commas between. */
	readonly servers: string;
	/** A file of credentials of NATS. */
	readonly credentials?: string;
	/** This program's name in the server's own lists. */
	readonly name: string;
	/** Ends the wait for the first answer. */
	readonly signal: AbortSignal;
	/** Called once, in words, if there is no server yet. */
	readonly waits: (text: string) => void;
	/** How long a job belongs to a worker that says nothing. */
	readonly leaseSeconds?: number;
}

const LEASE_SECONDS = 60;
const MOST_JOBS = 100_000; // under way at once
const TIMEOUT_MS = 10_000;
const AGAIN_MS = 500;
const NANOS = 1_000_000;
const KEEP_DAYS = 30;
const WRONG_SEQUENCE = 10_071;

export class JobQueue implements AsyncDisposable {
	readonly connection: NatsConnection;
	readonly js: JetStreamClient;
	readonly #jsm: JetStreamManager;
	readonly #options: JobQueueOptions;
	readonly #store: (make: boolean) => Promise<ObjectStore>;

	private constructor(
		connection: NatsConnection,
		js: JetStreamClient,
		jsm: JetStreamManager,
		options: JobQueueOptions,
		store: (make: boolean) => Promise<ObjectStore>,
	) {
		this.connection = connection;
		this.js = js;
		this.#jsm = jsm;
		this.#options = options;
		this.#store = store;
	}

	/** Waits until there is a server; afterwards it is connected again whenever it is lost. */
	static async connect(options: JobQueueOptions): Promise<JobQueue> {
		const [transport, streams, objects] = await Promise.all([import("@nats-io/transport-node"), import("@nats-io/jetstream"), import("@nats-io/obj")]).catch(
			(cause: unknown) => {
				throw new AgentError(
					"UNSUPPORTED",
					"the clients of NATS are not installed; run `npm install @nats-io/transport-node @nats-io/jetstream @nats-io/obj`",
					{ cause },
				);
			},
		);
		const { servers, credentials, name } = options;
		const authenticator = credentials === undefined ? {} : { authenticator: transport.credsAuthenticator(fs.readFileSync(credentials)) };
		const given = { servers: servers.split(","), name, maxReconnectAttempts: -1, reconnectTimeWait: AGAIN_MS, ...authenticator };
		const connection = await firstConnection(() => transport.connect(given), options);
		const js = streams.jetstream(connection, { timeout: TIMEOUT_MS });
		const jsm = await streams.jetstreamManager(connection, { timeout: TIMEOUT_MS, checkAPI: false });
		const objm = new objects.Objm(js);
		return new JobQueue(connection, js, jsm, options, (make) => (make ? objm.create(FILES) : objm.open(FILES)));
	}

	/** Makes what is not there: the collector's task. A stream that was lost is empty afterwards. */
	async ensure(): Promise<void> {
		await this.#stream(JOBS, { subjects: [SUBJECTS.jobs], retention: "workqueue" });
		await this.#stream(RESULTS, { subjects: SUBJECTS.results, retention: "limits", max_age: KEEP_DAYS * 86_400_000 * NANOS });
		const ack_wait = (this.#options.leaseSeconds ?? LEASE_SECONDS) * 1_000 * NANOS;
		const there = await this.#jsm.consumers.info(JOBS, WORKERS).catch((error: unknown) => {
			if (!/not found/.test(String(error))) throw error;
		});
		if (!there) await this.#jsm.consumers.add(JOBS, { durable_name: WORKERS, ack_policy: "explicit", ack_wait, max_deliver: -1, max_ack_pending: MOST_JOBS });
		else if (this.#options.leaseSeconds !== undefined && there.config.ack_wait !== ack_wait) await this.#jsm.consumers.update(JOBS, WORKERS, { ack_wait });
		await this.#store(true);
	}

	async #stream(name: string, config: { subjects: string[]; retention: "workqueue" | "limits"; max_age?: number }): Promise<void> {
		if (await this.info(name)) return;
		await this.#jsm.streams.add({ name, storage: "file", ...config }).catch((error: unknown) => {
			if (!/already in use/.test(String(error))) throw error; // another program has made it at the same time
		});
	}

	/** Undefined: there is none. With a filter, its subjects are in `state`. */
	info(stream: string, subjects?: string): Promise<StreamInfo | undefined> {
		return this.#jsm.streams.info(stream, subjects === undefined ? {} : { subjects_filter: subjects }).catch((error: unknown) => {
			if (/not found/.test(String(error))) return undefined;
			throw error;
		});
	}

	/** Returns the subjects that have a message. */
	async subjects(stream: string, filter: string): Promise<string[]> {
		return Object.keys((await this.info(stream, filter))?.state.subjects ?? {});
	}

	async last(subject: string): Promise<StoredMsg | undefined> {
		try {
			return (await this.#jsm.streams.getMessage(RESULTS, { last_by_subj: subject })) ?? undefined;
		} catch (error) {
			if (/not found|no message/i.test(String(error))) return undefined;
			throw error;
		}
	}

	/** Returns whether it was the first of its subject, and so is stored. */
	async first(subject: string, data: Uint8Array): Promise<boolean> {
		try {
			await this.js.publish(subject, data, { expect: { lastSubjectSequence: 0 } });
			return true;
		} catch (error) {
			if ((error as { code?: number }).code === WRONG_SEQUENCE || /wrong last sequence/.test(String(error))) return false;
			throw error;
		}
	}

	/** Takes the next job; undefined: there was none for a while. */
	async next(waitMs: number): Promise<{ readonly message: JsMsg; readonly leaseMs: number } | undefined> {
		const consumer = await this.js.consumers.get(JOBS, WORKERS);
		const { config } = await consumer.info(true);
		const message = await consumer.next({ expires: waitMs });
		return message ? { message, leaseMs: (config.ack_wait ?? LEASE_SECONDS * 1_000 * NANOS) / NANOS } : undefined;
	}

	async forget(stream: string, subject: string): Promise<void> {
		await this.#jsm.streams.purge(stream, { filter: subject });
	}

	files(): Promise<ObjectStore> {
		return this.#store(false);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.connection.close();
	}
}

/** Tries until there is a server. The client's own way (`waitOnFirstConnect`) says nothing meanwhile, and cannot be told to stop. */
async function firstConnection(connect: () => Promise<NatsConnection>, { servers, signal, waits }: JobQueueOptions): Promise<NatsConnection> {
	for (let told = false; ; told = true) {
		try {
			return await connect();
		} catch (cause) {
			if (!isAway(cause))
				throw new AgentError("INVALID", `cannot connect to ${servers} (${(cause as Error).message}); check the address and the credentials`, { cause });
			if (!told) waits(`no NATS server answers at ${servers} (${(cause as Error).message}); trying again until one does`);
			await sleep(AGAIN_MS, undefined, { signal }).catch(() => {
				throw new AgentError("ABORTED", `stopped before a NATS server answered at ${servers}`);
			});
		}
	}
}

/** Others are about what was given: no address, or no right to be there. */
const isAway = (error: unknown): boolean =>
	error instanceof Error && (["ConnectionError", "TimeoutError"].includes(error.name) || /^E(?!RR_)/.test((error as NodeJS.ErrnoException).code ?? ""));
