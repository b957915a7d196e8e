/**
 * The gateway: takes the claims, goes on with what was left, connects. Everything that counts is on the disk at every moment, so stopping it and killing it
 * come to the same; nothing that it has started ends with it.
 */
import { openRuntime, type Runtime } from "holdfast";
import { AgentError, type Claim, type Clock, KeyRing, systemClock } from "../base/index.js";
import type { AgentSettings } from "../chat/index.js";
import { type Chat, shortHash } from "./chat.js";
import { Chats } from "./chats.js";
import { claimPlatforms } from "./claims.js";
import { Counters } from "./counters.js";
import type { Hall, Link } from "./hall.js";
import { askedByModel, handle } from "./handle.js";
import { Intake } from "./intake.js";
import type { OpenedPlatform } from "./open-platforms.js";
import { Outbox } from "./outbox.js";
import { OutboxStore } from "./outbox-store.js";
import { gatewayPaths, makeGatewayDirs, outboxFile } from "./paths.js";
import { People } from "./people.js";
import { PlatformError, type PlatformEvents } from "./platforms/platform.js";
import { Questions } from "./questions.js";
import { KEY_START } from "./route.js";
import { sendFileTool } from "./send-file.js";
import { type GatewayStatus, writeStatus } from "./status.js";
import { Taps } from "./taps.js";

const RECOVERED_AT_ONCE = 4;
const IDLE_MS = 10 * 60_000;
const LOOK_MS = 60_000;
const STATUS_MS = 2_000;
const PROBLEMS = 20;

export interface GatewayOptions {
	readonly settings: AgentSettings;
	/** By the names that agent.json gives them. */
	readonly platforms: readonly (Pick<OpenedPlatform, "name" | "platform"> & Partial<OpenedPlatform>)[];
	readonly keys?: KeyRing;
	/** In place of one of its own. */
	readonly runtime?: Runtime;
	readonly clock?: Clock;
	readonly cwd?: string;
	/** A line for the log of the program. */
	readonly report?: (text: string) => void;
	/** The first wait after a failed sending. */
	readonly firstWaitMs?: number;
	/** How often the same step may be cut short within an hour before the person is asked. */
	readonly crashes?: number;
	/** How long a conversation stays open in which nothing happens. */
	readonly idleMs?: number;
}

interface Connected extends Link {
	up: boolean;
	why: string | undefined;
	account: string | undefined;
	/** Rejects never; resolves when the platform has ended, by the signal or for good. */
	running: Promise<void>;
}

export class Gateway {
	readonly #options: GatewayOptions;
	readonly #claims: Claim[] = [];
	readonly #links = new Map<string, Connected>();
	readonly #stop = new AbortController();
	readonly #problems: { at: string; text: string }[] = [];
	readonly #startedAt = new Date().toISOString();
	#hall: Hall;
	readonly #chats: Chats;
	#questions: Questions;
	#taps: Taps;
	#intake: Intake;
	#under: Promise<unknown>[] = [];
	#timers: NodeJS.Timeout[] = [];
	#statusDue: NodeJS.Timeout | undefined;
	#unsudo: (() => void) | undefined;

	private constructor(options: GatewayOptions, runtime: Runtime) {
		const { settings, clock = systemClock, keys = new KeyRing(settings.home), cwd = process.cwd() } = options;
		const { home } = settings;
		this.#options = options;
		const people = new People(home, () => settings.config.gateway.people, clock);
		const report = (text: string): void => this.#report(text);
		this.#hall = { home, paths: gatewayPaths(home), settings, runtime, keys, people, clock, cwd, counters: new Counters(), report, crashes: options.crashes };
		this.#chats = new Chats(this.#hall, {
			handle: (chat, item) => handle(chat, item, this.#questions),
			asked: askedByModel,
			tools: (chat) => (chat.link.platform.traits.files ? [sendFileTool(chat)] : []),
		});
		this.#questions = new Questions(this.#hall, this.#chats, () => [...this.#links.values()]);
		this.#intake = new Intake(this.#hall, this.#chats);
		this.#taps = new Taps(this.#hall, this.#questions, this.#chats);
	}

	/** Goes on with what was left, and connects. Throws `TakenError` if another program has one of the accounts. */
	static async start(options: GatewayOptions): Promise<Gateway> {
		const { home } = options.settings;
		if (options.platforms.length === 0)
			throw new AgentError("CONFIG", "no platform is set up; run `holdfast-agent setup platform`, or use the page of `holdfast serve`, which needs no account");
		const claims = claimPlatforms(home, options.platforms);
		const runtime = options.runtime ?? (await openRuntime({ warm: 0 }));
		const gateway = new Gateway(options, runtime);
		gateway.#claims.push(...claims);
		try {
			makeGatewayDirs(gatewayPaths(home));
			await gateway.#begin();
			return gateway;
		} catch (error) {
			await gateway.stop();
			throw error;
		}
	}

	get hall(): Hall {
		return this.#hall;
	}

	get chats(): ReadonlyMap<string, Chat> {
		return this.#chats.byKey;
	}

	/** Resolves when no platform is left: each has refused our token. Then there is nothing more to do. */
	async ended(): Promise<void> {
		await Promise.all([...this.#links.values()].map(({ running }) => running));
	}

	get status(): GatewayStatus {
		const chats = this.#chats.all;
		return {
			pid: process.pid,
			startedAt: this.#startedAt,
			at: new Date().toISOString(),
			platforms: [...this.#links.values()].map(({ name, platform, outbox, up, why, account }) => ({
				...{ name, up, certainty: platform.traits.certainty, waiting: outbox.store.size },
				...(why === undefined ? {} : { why }),
				...(account === undefined ? {} : { account }),
			})),
			chats: { known: chats.length, open: chats.filter(({ conversation }) => conversation).length },
			counters: this.#hall.counters.json(),
			problems: this.#problems,
		};
	}

	/** For Prometheus. */
	get metrics(): string {
		const { platforms, chats } = this.status;
		return this.#hall.counters.prometheus([
			{ name: "up", help: "whether the platform is connected", values: platforms.map(({ name, up }) => [name, up ? 1 : 0]) },
			{ name: "waiting", help: "messages that wait to be sent", values: platforms.map(({ name, waiting }) => [name, waiting]) },
			{ name: "chats", help: "chats that are known", values: [["", chats.known]] },
			{ name: "open_conversations", help: "conversations that are open", values: [["", chats.open]] },
			{ name: "resident_bytes", help: "memory of the gateway", values: [["", process.memoryUsage.rss()]] },
		]);
	}

	/** No new messages; turns are left as they are and go on with the next start; nothing is killed. Idempotent. */
	async stop(): Promise<void> {
		if (this.#stop.signal.aborted) return;
		this.#stop.abort();
		for (const timer of this.#timers) clearInterval(timer);
		clearTimeout(this.#statusDue);
		this.#unsudo?.();
		await Promise.all([...this.#links.values()].map(({ running }) => running));
		await Promise.all(this.#chats.all.map((chat) => chat.close().catch((error: Error) => this.#report(error.message))));
		await Promise.all(this.#under);
		await Promise.all([...this.#links.values()].map(({ outbox }) => outbox.close()));
		if (!this.#options.runtime) await this.#hall.runtime.close();
		for (const claim of this.#claims) claim.release();
	}

	async #begin(): Promise<void> {
		const { paths, counters } = this.#hall;
		for (const { name, platform } of this.#options.platforms) {
			const store = new OutboxStore(outboxFile(paths, name), this.#hall.clock);
			const { firstWaitMs } = this.#options;
			const outbox = new Outbox({
				...{ store, platform, clock: this.#hall.clock, report: this.#hall.report },
				told: (what) => {
					counters.add(what, name);
					this.#noteStatus();
				},
				...(firstWaitMs === undefined ? {} : { firstWaitMs }),
			});
			this.#links.set(name, { name, platform, outbox, up: false, why: undefined, account: undefined, running: Promise.resolve() });
		}
		this.#chats.load(this.#links);
		this.#unsudo = this.#attendSudo();
		await this.#recover();
		this.#under.push(
			this.#loop("questions", () => this.#questions.run(this.#stop.signal)),
			this.#loop("news", () => this.#news()),
		);
		for (const link of this.#links.values()) {
			link.outbox.connection(false); // until the platform says that it is
			link.outbox.start();
			link.running = this.#run(link);
		}
		this.#timers.push(setInterval(() => void this.#chats.leaveIdle(this.#hall.clock.now() - (this.#options.idleMs ?? IDLE_MS)), LOOK_MS).unref());
		this.#noteStatus();
	}

	/** Lets chats that a killed gateway left unfinished go on before anything new is heard; a few at once. */
	async #recover(): Promise<void> {
		const left = this.#chats.all.filter((chat) => chat.unfinished).sort((a, b) => b.state.active - a.state.active);
		const worker = async (): Promise<void> => {
			for (let chat = left.shift(); chat; chat = left.shift()) {
				const { key } = chat;
				await chat.recover().catch((error: Error) => this.#report(`${key} cannot go on: ${error.message}`));
			}
		};
		await Promise.all(Array.from({ length: RECOVERED_AT_ONCE }, worker));
	}

	async #run(link: Connected): Promise<void> {
		const { platform } = link;
		const events: PlatformEvents = {
			message: async (message) => {
				await this.#intake.message(link, message);
				void this.#chats.trim();
				this.#noteStatus();
			},
			tapped: (tap) => this.#taps.tapped(link, tap),
			connection: ({ up, why }) => {
				Object.assign(link, { up, why });
				link.outbox.connection(up);
				this.#noteStatus();
			},
		};
		try {
			void platform
				.account(this.#stop.signal)
				.then(({ name }) => (link.account = name))
				.catch(() => {}); // `run` says what is wrong
			await platform.run(events, this.#stop.signal, this.#chats.seen(link));
		} catch (error) {
			if (this.#stop.signal.aborted) return;
			const words = error instanceof Error ? error.message : String(error);
			Object.assign(link, { up: false, why: words });
			link.outbox.connection(false);
			const fix = error instanceof PlatformError && error.kind === "taken" ? "end the other program" : `run \`holdfast-agent setup platform\` for ${link.name}`;
			this.#report(`${link.name} has ended: ${words}; ${fix}, then start the gateway again`);
		}
		this.#noteStatus();
	}

	/** News of a chat whose conversation is closed opens it; the conversation itself takes it. */
	async #news(): Promise<void> {
		for await (const { task } of this.#hall.runtime.notices.stream({ leave: true, signal: this.#stop.signal })) {
			if (!task.startsWith(KEY_START)) continue;
			const chat = this.#chats.ofTask(task);
			if (chat && !chat.conversation && chat.state.conversation !== undefined)
				await chat.agent().catch((error: Error) => this.#report(`${task}: ${error.message}`));
		}
	}

	/** A password is never asked for in a chat: what was written there stays there. */
	#attendSudo(): (() => void) | undefined {
		try {
			return this.#hall.runtime.sudo.attend(async ({ task }) => {
				const chat = this.#chats.ofTask(task);
				const minute = Math.floor(Date.now() / 60_000);
				await chat?.say(
					`sudo_${shortHash(task)}_${minute}`,
					"A command wants a password for sudo, which is never asked for in a chat, so it gets none. Allow that command without one (`visudo`: NOPASSWD), or let me run it on a terminal and type the password yourself: /link keyboard gives you a link to it.",
					{ rings: true },
				);
				return null;
			});
		} catch (error) {
			this.#report(`Nobody can be told when sudo wants a password: ${error instanceof Error ? error.message : error}`);
			return undefined;
		}
	}

	/** Goes on after a failure, until the gateway stops. */
	async #loop(what: string, work: () => Promise<void>): Promise<void> {
		while (!this.#stop.signal.aborted) {
			try {
				await work();
			} catch (error) {
				if (this.#stop.signal.aborted) return;
				this.#report(`${what}: ${error instanceof Error ? error.message : error}`);
			}
			if (!this.#stop.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 1_000));
		}
	}

	#report(text: string): void {
		const words = this.#hall.keys.redact(text);
		this.#problems.push({ at: new Date().toISOString(), text: words });
		if (this.#problems.length > PROBLEMS) this.#problems.shift();
		this.#options.report?.(words);
		this.#noteStatus();
	}

	/** A moment after something has changed. */
	#noteStatus(): void {
		if (this.#stop.signal.aborted) return;
		this.#statusDue ??= setTimeout(() => {
			this.#statusDue = undefined;
			try {
				writeStatus(this.#hall.home, this.status);
			} catch {
				// a full disk: nothing depends on it
			}
		}, STATUS_MS).unref();
	}
}
