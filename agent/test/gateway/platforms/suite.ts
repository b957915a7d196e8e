/**
 * What every platform must do, run against its server or double. A case that a platform cannot have is skipped with its reason: `traits` decides, or the
 * stage says why.
 */
import { randomBytes } from "node:crypto";
import { getEventListeners } from "node:events";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Outbox } from "../../../src/gateway/outbox.js";
import { OutboxStore } from "../../../src/gateway/outbox-store.js";
import { type ChatRef, type Incoming, type Outgoing, type Platform, PlatformError, type Tapped } from "../../../src/gateway/platforms/index.js";
import { firstWriter } from "../../../src/setup/platform.js";
import { tempDir, until } from "../../support/dirs.js";

/** A message of ours, as the person sees it. */
export interface Shown {
	readonly id?: string;
	readonly text: string;
	readonly buttons?: readonly string[];
	readonly file?: { readonly name: string; readonly bytes: Uint8Array };
}

export interface StageChat {
	readonly ref: ChatRef;
	/** The id by which the platform must name the writer. */
	readonly person: string;
	say(text: string, file?: { readonly name: string; readonly bytes: Uint8Array }): Promise<void>;
	shown(): Promise<readonly Shown[]>;
	/** How often the person was shown that the bot writes. */
	typed?(): number;
	/** Presses a button of a message. */
	tap?(message: string, data: string): Promise<void>;
}

export interface Stage {
	open(how?: { readonly wrongKey?: true }): Promise<Platform>;
	/** A chat between a new person and the bot, who have met. */
	chat(): Promise<StageChat>;
	/** A chat that is gone, or blocks us. */
	deadChat?(): Promise<ChatRef>;
	/** Cuts the connection when a message with this text is sent: before the platform took it, or after. */
	cut(when: "before" | "after", marker: string): void;
	/** The next message is refused with this wait. */
	flood?(seconds: number): void;
	/** Cuts the line on which messages come in. */
	drop(): void;
	/** The same, for so long that the platform will not deliver what was missed; the first look into the history fails. */
	dropForLong?(): void;
	/** The token does not count any more, or does again. */
	revoke?(revoked: boolean): Promise<void>;
	/** Connects another program with the same token. */
	other?(): Promise<() => Promise<void>>;
	/** Calls and fields that the double does not know. */
	strange?(): readonly string[];
	close(): Promise<void>;
}

export interface Contract {
	/** The sentence of a case, and why this platform has none. */
	readonly without?: Readonly<Record<string, string>>;
	/** What a person sees of `**bold** and `code``. */
	readonly rendered: RegExp;
	readonly skip?: string | undefined;
	/** A prefix of every stage text. */
	readonly longText?: (size: number) => string;
}

/** A run of a platform, with what it told. */
interface Running {
	readonly platform: Platform;
	readonly messages: Incoming[];
	readonly taps: Tapped[];
	readonly states: boolean[];
	/** Makes `message` reject while it is true. */
	full: boolean;
	refused: string[];
	stop(): Promise<unknown>;
	readonly done: Promise<unknown>;
}

export function platformContract(name: string, stageOf: () => Promise<Stage>, contract: Contract): void {
	describe.skipIf(contract.skip !== undefined)(`the platform contract: ${name}${contract.skip ? ` (${contract.skip})` : ""}`, () => {
		let stage: Stage;
		const running: Running[] = [];
		const never = new AbortController().signal;
		const test = (title: string, body: () => Promise<void>): void => {
			const why = contract.without?.[title];
			it.skipIf(why !== undefined)(why ? `${title} (${why})` : title, body);
		};

		/** Chats of tests that are over: what the server still has for them is no matter of the next. */
		const [over, own] = [new Set<string>(), new Set<string>()];
		beforeAll(async () => {
			const made = await stageOf();
			const chat = async (): Promise<StageChat> => {
				const one = await made.chat();
				own.add(one.ref.id);
				return one;
			};
			stage = { ...made, chat };
		});
		afterEach(async () => {
			await Promise.all(running.splice(0).map((one) => one.stop()));
			for (const id of own) over.add(id);
			expect(stage.strange?.() ?? []).toEqual([]);
		});
		afterAll(() => stage?.close());

		async function start(seen?: Parameters<Platform["run"]>[2]): Promise<Running> {
			const platform = await stage.open();
			const end = new AbortController();
			const one: Running = { platform, messages: [], taps: [], states: [], full: false, refused: [], stop: async () => undefined, done: Promise.resolve() };
			const done = platform.run(
				{
					message: async (message) => {
						if (over.has(message.chat.id)) return;
						if (one.full) {
							one.refused.push(message.id);
							throw new Error("no space left on device");
						}
						one.messages.push(message);
					},
					tapped: async (tap) => void one.taps.push(tap),
					connection: ({ up }) => void one.states.push(up),
				},
				end.signal,
				seen,
			);
			const settled = done.then(
				() => undefined,
				(error: unknown) => error,
			);
			Object.assign(one, {
				done: settled,
				stop: () => {
					end.abort();
					return settled;
				},
			});
			running.push(one);
			await until("connected", () => one.states.includes(true));
			return one;
		}

		const outgoing = (chat: ChatRef, text: string, more: Partial<Outgoing> = {}): Outgoing => ({
			id: `dlv_${randomBytes(6).toString("hex")}`,
			chat,
			text,
			rings: true,
			...more,
		});
		const failureOf = (promise: Promise<unknown>): Promise<PlatformError> =>
			promise.then(
				() => {
					throw new Error("it did not fail");
				},
				(error: unknown) => {
					expect(error).toBeInstanceOf(PlatformError);
					return error as PlatformError;
				},
			);
		async function untilShown(chat: StageChat, holds: (shown: readonly Shown[]) => boolean): Promise<readonly Shown[]> {
			const deadline = Date.now() + 60_000;
			for (let shown = await chat.shown(); ; shown = await chat.shown()) {
				if (holds(shown) || Date.now() > deadline) return shown;
				await new Promise((resolve) => setTimeout(resolve, 10));
			}
		}
		/** What the gateway does with a message whose sending failed without a word. */
		async function resolve(platform: Platform, out: Outgoing): Promise<string | undefined> {
			if (platform.traits.certainty === "exact") return (await platform.send(out, never)).id;
			if (platform.traits.certainty !== "lookup") return undefined;
			return (await platform.find?.(out, never))?.id ?? (await platform.send(out, never)).id;
		}

		test("says who the account is", async () => {
			const account = await (await stage.open()).account(never);
			expect(account.id).not.toBe("");
			expect(account.name).not.toBe("");
		});

		test("a wrong key is an error of kind key", async () => {
			const platform = await stage.open({ wrongKey: true });
			expect((await failureOf(platform.account(never))).kind).toBe("key");
			const run = platform.run({ message: async () => undefined, tapped: async () => undefined, connection: () => undefined }, never);
			expect((await failureOf(run)).kind).toBe("key");
		});

		test("setup hears who writes first", async () => {
			const [platform, chat] = [await stage.open(), await stage.chat()];
			const end = new AbortController();
			const heard = firstWriter(platform, end.signal);
			// Until the platform is connected, what is said may be in its history alone, which setup does not read.
			const saying = setInterval(() => void chat.say("it is me"), 500);
			try {
				expect((await heard)?.id).toBe(chat.person);
			} finally {
				clearInterval(saying);
				end.abort();
			}
		});

		test("text comes in with its chat, person and id, and goes out in the platform's own form", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			await chat.say("hello ünïcødé 😀");
			await until("the message", () => one.messages.length === 1);
			expect(one.messages[0]).toMatchObject({
				text: "hello ünïcødé 😀",
				addressed: true,
				files: [],
				chat: { id: chat.ref.id, kind: "direct" },
				person: { id: chat.person },
			});
			expect(one.messages[0]?.id).not.toBe("");
			const { id } = await one.platform.send(outgoing(chat.ref, "**bold** and `code`"), never);
			const shown = await untilShown(chat, (all) => all.length === 1);
			expect(shown[0]?.text).toMatch(contract.rendered);
			expect(id).not.toBe("");
		});

		test("a text of exactly the limit arrives whole", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			const { size } = one.platform.traits.limit;
			let text = "";
			while (one.platform.measure(`${text}wörd `) <= size) text += "wörd ".repeat(Math.max(1, Math.floor((size - one.platform.measure(`${text}.`)) / 12)));
			text = text.trimEnd();
			while (one.platform.measure(`${text}x`) <= size) text += "x";
			expect(one.platform.measure(text)).toBeLessThanOrEqual(size);
			await one.platform.send(outgoing(chat.ref, text), never);
			const join = (all: readonly Shown[]): string =>
				all
					.map((shown) => shown.text.trim())
					.join(" ")
					.replace(/\s+/g, " ");
			const shown = await untilShown(chat, (all) => join(all).length >= text.length);
			expect(join(shown)).toBe(text);
		});

		test("an edit replaces the text, and the same edit again is no error", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			if (!one.platform.traits.edits || !one.platform.edit) return expect(one.platform.edit).toBeUndefined();
			const out = outgoing(chat.ref, "working …", { rings: false });
			const { id } = await one.platform.send(out, never);
			const changed = { ...out, text: "the whole answer" };
			await one.platform.edit(id, changed, never);
			await one.platform.edit(id, changed, never);
			expect((await untilShown(chat, (all) => all[0]?.text === "the whole answer")).map(({ text }) => text)).toEqual(["the whole answer"]);
		});

		test("a pressed button comes with its data, person and message, and an edit takes the buttons away", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			if (!one.platform.traits.buttons || !chat.tap) return expect(one.platform.traits.buttons).toBe(false);
			const buttons = ["Once", "This chat", "Always", "No"].map((label) => ({ label, data: `ap:1962:${label.slice(0, 2)}` }));
			const out = outgoing(chat.ref, "Allow `git push --force`?", { buttons });
			const { id } = await one.platform.send(out, never);
			expect((await chat.shown())[0]?.buttons).toEqual(["Once", "This chat", "Always", "No"]);
			await chat.tap(id, "ap:1962:On");
			await until("the tap", () => one.taps.length === 1);
			expect(one.taps[0]).toMatchObject({ data: "ap:1962:On", message: id, chat: { id: chat.ref.id }, person: { id: chat.person } });
			await one.taps[0]?.show("allowed once");
			await one.platform.edit?.(id, { ...out, text: "Allowed once", buttons: [] }, never);
			expect((await chat.shown())[0]).toMatchObject({ text: "Allowed once", buttons: [] });
		});

		test("a typing sign reaches the person", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			if (!one.platform.traits.typing || !chat.typed) return expect([one.platform.traits.typing, one.platform.typing]).toEqual([false, undefined]);
			await one.platform.typing?.(chat.ref, never);
			await until("it is seen", () => chat.typed?.() === 1);
		});

		test("files go out and come in with their bytes; a name is no path; a large one is refused", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			if (!one.platform.traits.files) return;
			const bytes = randomBytes(5000);
			await one.platform.send(outgoing(chat.ref, "the log", { file: { name: "build.log", type: "text/plain", bytes } }), never);
			const [shown] = await untilShown(chat, (all) => all.length === 1);
			expect(shown?.file?.name).toBe("build.log");
			expect(Buffer.from(shown?.file?.bytes ?? []).equals(bytes)).toBe(true);
			await chat.say("look at this", { name: "../../x", bytes });
			await until("the file", () => one.messages.length === 1);
			const [file] = one.messages[0]?.files ?? [];
			expect([one.messages[0]?.text, file?.name]).toEqual(["look at this", "x"]);
			expect(Buffer.from((await file?.read(10_000, never)) ?? []).equals(bytes)).toBe(true);
			expect((await failureOf(file?.read(4999, never) as Promise<unknown>)).kind).toBe("refused");
		});

		test("a flood wait is an error with its end, and nothing was shown", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			const out = outgoing(chat.ref, "patience");
			const before = Date.now();
			stage.flood?.(7);
			const error = await failureOf(one.platform.send(out, never));
			expect(error.kind).toBe("later");
			expect(error.until).toBeGreaterThanOrEqual(before + 7000);
			expect(error.until).toBeLessThanOrEqual(Date.now() + 7500);
			expect(await chat.shown()).toEqual([]);
		});

		test("cut before the platform took the message: it is there once in the end", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			const out = outgoing(chat.ref, "cut before");
			stage.cut("before", "cut before");
			expect((await failureOf(one.platform.send(out, never))).kind).toMatch(/^(unsure|not-sent)$/);
			const id = (await resolve(one.platform, out)) ?? (await one.platform.send(out, never)).id;
			const shown = await untilShown(chat, (all) => all.length > 0);
			expect(shown.map(({ text }) => text.trim())).toEqual(["cut before"]);
			if (shown[0]?.id !== undefined) expect(id).toBe(shown[0].id);
		});

		test("cut after the platform took the message: the failure is unsure, and it is there once", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			const out = outgoing(chat.ref, "cut after");
			stage.cut("after", "cut after");
			expect((await failureOf(one.platform.send(out, never))).kind).toBe("unsure");
			const id = await resolve(one.platform, out);
			const shown = await untilShown(chat, (all) => all.length > 0);
			expect(shown.map(({ text }) => text.trim())).toEqual(["cut after"]);
			if (id !== undefined && shown[0]?.id !== undefined) expect(id).toBe(shown[0].id);
		});

		for (const when of ["before", "after"] as const)
			test(`through the outbox, cut ${when} the platform took it: once where the platform can tell, else the second is marked`, async () => {
				const [one, chat] = [await start(), await stage.chat()];
				const { certainty } = one.platform.traits;
				const file = path.join(tempDir("outbox"), "outbox.jsonl");
				const outbox = new Outbox({ store: new OutboxStore(file), platform: one.platform, firstWaitMs: 20 });
				outbox.start();
				stage.cut(when, `gone ${when}`);
				const { id, text, rings } = outgoing(chat.ref, `gone ${when}`);
				await outbox.put({ id, text, rings, chat: { id: chat.ref.id, kind: chat.ref.kind } });
				await until("it is settled", () => outbox.store.size === 0);
				await outbox.close();
				const marked = `(perhaps again) ${text}`;
				const once = certainty === "exact" || certainty === "lookup";
				const wanted = once ? [text] : when === "after" ? [text, marked] : [expect.stringMatching(/^(\(perhaps again\) )?gone before$/)];
				const shown = await untilShown(chat, (all) => all.length >= wanted.length);
				expect(shown.map(({ text }) => text.trim())).toEqual(wanted);
			});

		test("a message that could not be stored comes again, with the same id, before those behind it", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			one.full = true;
			await chat.say("first");
			await until("the refusal", () => one.refused.length > 0);
			await chat.say("second");
			one.full = false;
			await until("both", () => one.messages.length === 2);
			expect(one.messages.map(({ text }) => text)).toEqual(["first", "second"]);
			expect(new Set(one.refused)).toEqual(new Set([one.messages[0]?.id]));
		});

		test("a message that was not stored when the gateway ended comes to the next one, with the same id", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			await chat.say("stored");
			await until("the first", () => one.messages.length === 1);
			one.full = true;
			await chat.say("not stored");
			await until("the refusal", () => one.refused.length > 0);
			await one.stop();
			const next = await start(one.messages.map(({ id, at, chat }) => ({ chat, message: id, at })));
			const fresh = (): Incoming[] => next.messages.filter(({ id }) => id !== one.messages[0]?.id);
			await until("it again", () => fresh().length > 0);
			expect([...new Set(fresh().map(({ id, text }) => `${id} ${text}`))]).toEqual([`${one.refused[0]} not stored`]);
		});

		test("what was said while no gateway ran comes to the next one", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			await chat.say("before");
			await until("the first", () => one.messages.length === 1);
			await one.stop();
			await chat.say("while away");
			const next = await start(one.messages.map(({ id, at, chat }) => ({ chat, message: id, at })));
			await until("it", () => next.messages.some(({ text }) => text === "while away"));
			expect(new Set(next.messages.filter(({ text }) => text === "while away").map(({ id }) => id)).size).toBe(1);
		});

		test("the order is kept in both directions", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			const words = Array.from({ length: 8 }, (_, at) => `part ${at + 1}`);
			for (const word of words) await chat.say(word);
			for (const word of words) await one.platform.send(outgoing(chat.ref, word), never);
			await until("all", () => one.messages.length === words.length);
			expect(one.messages.map(({ text }) => text)).toEqual(words);
			expect((await untilShown(chat, (all) => all.length === words.length)).map(({ text }) => text.trim())).toEqual(words);
		});

		const cut = async (drop: () => void): Promise<void> => {
			const [one, chat] = [await start(), await stage.chat()];
			await chat.say("before");
			await until("the first", () => one.messages.length === 1);
			drop();
			const meanwhile = contract.without?.["said meanwhile"] === undefined ? ["meanwhile", "and again"] : [];
			for (const text of meanwhile) await chat.say(text);
			await until(
				"down and up",
				() =>
					/true,(false,)+true/.test(one.states.join()) ||
					(one.states.join() === "true" && meanwhile.length > 0 && one.messages.length === 1 + meanwhile.length),
			);
			await chat.say("after");
			await until("the last", () => one.messages.some(({ text }) => text === "after"));
			expect([...new Map(one.messages.map(({ id, text }) => [id, text])).values()]).toEqual(["before", ...meanwhile, "after"]);
			await one.platform.send(outgoing(chat.ref, "still here"), never);
			expect((await untilShown(chat, (all) => all.length > 0)).map(({ text }) => text.trim())).toEqual(["still here"]);
		};

		test("a cut line is told, and mended; nothing said meanwhile is lost", () => cut(() => stage.drop()));

		test("a line that was cut for long: what was missed is read before what is live", () => cut(() => stage.dropForLong?.()));

		test("a request that is over leaves nothing on its signal", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			const { signal } = new AbortController();
			await one.platform.account(signal);
			const out = outgoing(chat.ref, "hello");
			const { id } = await one.platform.send(out, signal);
			await one.platform.edit?.(id, { ...out, text: "hello again" }, signal);
			await one.platform.find?.(out, signal);
			await one.platform.typing?.(chat.ref, signal);
			expect(getEventListeners(signal, "abort")).toEqual([]);
		});

		test("a dead chat is an error of kind dead", async () => {
			const one = await start();
			const chat = (await stage.deadChat?.()) as ChatRef;
			expect((await failureOf(one.platform.send(outgoing(chat, "hello?"), never))).kind).toBe("dead");
		});

		test("a second program with the token is told of", async () => {
			const end = await stage.other?.();
			const platform = await stage.open();
			const run = platform.run({ message: async () => undefined, tapped: async () => undefined, connection: () => undefined }, never);
			expect((await failureOf(run)).kind).toBe("taken");
			await end?.();
		});

		test("a key that is revoked ends the run and the sending with kind key", async () => {
			const [one, chat] = [await start(), await stage.chat()];
			await stage.revoke?.(true);
			try {
				stage.drop();
				expect(await one.done).toMatchObject({ name: "PlatformError", kind: "key" });
				expect((await failureOf(one.platform.send(outgoing(chat.ref, "hello?"), never))).kind).toBe("key");
			} finally {
				await stage.revoke?.(false);
			}
		});
	});
}
