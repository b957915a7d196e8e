/** What endpoints do wrong, in every format: an answer is whole, or nothing of it may be acted on. */
import net from "node:net";
import { describe, expect, it } from "vitest";
import { calls, empty, type Fault, fails, modelServer, type Place, type Step } from "../model-server/index.js";
import { askAt, assistant, FORMATS, KEY, result, shown, user } from "./support.js";

const RM = '{"command":"rm -rf build"}';
const remove: Step = { reasoning: "Clean first.", text: "I'll clean. ", ...calls(["terminal", RM]) };
/** In the middle of the arguments, wherever chunks end. */
const half: Step = { ...remove, calls: [{ name: "terminal", args: '{"command":"rm -rf build' }] };

const broken = (step: Step, fault: Fault): Step => ({ ...step, fault });
const MIDDLE: readonly Place[] = ["first byte", "start", "reasoning", "text", "arguments", "whole arguments", "closed call"];

describe.each(FORMATS)("over %s", (format) => {
	describe("a stream that ends too early", () => {
		it("runs nothing, wherever and however it is cut: three new tries, then it says so", async () => {
			await using server = await modelServer({ script: () => broken(remove, cut) });
			let cut: Fault = { kind: "cut", at: "start" };
			for (const at of MIDDLE)
				for (const how of ["socket", "end"] as const) {
					cut = { kind: "cut", at, how };
					const before = server.requests.length;
					const { error, answer, pieces, waits } = await askAt(server.url, format);
					const seen = { at, how, kind: error?.kind, answer, requests: server.requests.length - before, waits };
					expect(seen).toEqual({ at, how, kind: "cut", answer: undefined, requests: 4, waits: [2000, 4000, 8000] });
					expect(pieces.filter(({ type }) => type === "retry").map((piece) => piece.type === "retry" && piece.attempt)).toEqual([2, 3, 4]);
					// What was said may be kept as text; it is the text of the last try alone.
					expect("I'll clean. ".startsWith(error?.details.text ?? "")).toBe(true);
					if (at === "arguments") expect(error?.details.text).toBe("I'll clean. ");
				}
		});

		it('runs nothing of {"command":"rm -rf build when it is cut exactly there', async () => {
			for (const how of ["socket", "end"] as const) {
				await using server = await modelServer({ script: [broken(half, { kind: "cut", at: "whole arguments", how }), "All is well."] });
				const { answer, pieces } = await askAt(server.url, format);
				const seen = { text: answer?.text, calls: answer?.calls, stop: answer?.stop, shown: shown(pieces) };
				expect(seen).toEqual({ text: "All is well.", calls: [], stop: "done", shown: "All is well." });
			}
		});

		it("is whole when it is cut after the word that closes it, where the format has nothing to say after that", async () => {
			await using server = await modelServer({ script: [broken(remove, { kind: "cut", at: "finish" }), "again"] });
			const { answer } = await askAt(server.url, format);
			// Anthropic closes with message_stop, which is missing here.
			if (format === "anthropic") expect(answer?.text).toBe("again");
			else expect(answer?.calls.map(({ args }) => args)).toEqual([RM]);
		});

		it("is cut when it stands still", async () => {
			for (const at of ["first byte", "text", "arguments", "closed call"] as const) {
				await using server = await modelServer({ script: [broken(remove, { kind: "stall", at }), "again"] });
				expect((await askAt(server.url, format, { stallMs: 60 })).answer?.text).toBe("again");
			}
		});

		it("is waited for before its headers, when a model may be loading for minutes, until the caller stops", async () => {
			await using server = await modelServer({ script: [broken(remove, { kind: "stall", at: "headers" })] });
			const stopped = new AbortController();
			const run = askAt(server.url, format, { stallMs: 1, signal: stopped.signal });
			await server.arrived(1);
			stopped.abort(new Error("stopped"));
			await expect(run).rejects.toThrow("stopped");
		});

		it("is read to its end when it drips", async () => {
			await using server = await modelServer({ script: [{ ...remove, wire: { dripMs: 3, comments: true } }] });
			expect((await askAt(server.url, format, { stallMs: 5_000 })).answer?.calls.map(({ args }) => args)).toEqual([RM]);
		});

		it("is broken off by an error event: three new tries, nothing kept but the text", async () => {
			await using server = await modelServer({ script: () => broken(remove, { kind: "error", at: "arguments" }) });
			const { error, waits } = await askAt(server.url, format);
			expect({ kind: error?.kind, text: error?.details.text, waits }).toEqual({ kind: "again", text: "I'll clean. ", waits: [2000, 4000, 8000] });
		});

		it("is asked for again after an error event, and what was shown of it is void", async () => {
			await using server = await modelServer({ script: [broken(remove, { kind: "error", at: "text" }), "fine"] });
			const { answer, pieces } = await askAt(server.url, format);
			expect({ text: answer?.text, shown: shown(pieces) }).toEqual({ text: "fine", shown: "fine" });
		});

		it("stops at once for an error event about the key", async () => {
			const type = format === "anthropic" ? "authentication_error" : "invalid_api_key";
			await using server = await modelServer({ script: [broken(remove, { kind: "error", at: "text", type, message: "no longer valid" })] });
			expect((await askAt(server.url, format)).error).toMatchObject({ kind: "key", message: expect.stringContaining("no longer valid") });
		});
	});

	describe("calls", () => {
		it("keeps arguments that are no JSON as they were written, and the next request is valid", async () => {
			await using server = await modelServer({ script: [half, "I see."] });
			const { answer } = await askAt(server.url, format);
			if (!answer) throw new Error("no answer");
			expect(answer).toMatchObject({ stop: "calls", calls: [{ name: "terminal", args: '{"command":"rm -rf build' }] });
			const messages = [user("x"), assistant(answer), result(answer.calls[0]?.id ?? "", "not JSON at 24")];
			expect((await askAt(server.url, format, { request: { messages } })).answer?.text).toBe("I see.");
		});

		it("makes of arguments: nothing of null, the text of an object, and the text itself of what is doubled or quoted", async () => {
			const odd = (kind: "null" | "object" | "doubled" | "quoted") => ({ name: "terminal", args: { command: "ls" }, odd: kind });
			await using server = await modelServer({ script: [calls(odd("null"), odd("object"), odd("doubled"), odd("quoted"))] });
			const { answer } = await askAt(server.url, format);
			expect(answer?.calls.map(({ args }) => args)).toEqual(["{}", '{"command":"ls"}', '{"command":"ls"}{"command":"ls"}', '"{\\"command\\":\\"ls\\"}"']);
		});

		it("gives an id to a call that has none, and another to one whose id was used", async () => {
			const call = (id: string | null) => ({ name: "terminal", args: { command: "ls" }, id });
			await using server = await modelServer({ script: [calls(call(null), call("same_1"), call("same_1"), call("used_9"), call("old_1")), "done"] });
			const before = { role: "assistant" as const, text: "", reasoning: [], calls: [{ id: "used_9", name: "terminal", args: "{}" }], model: "m" };
			const messages = [user("x"), before, result("used_9", "y")];
			const { answer } = await askAt(server.url, format, { request: { messages, usedIds: new Set(["old_1"]) } });
			if (!answer) throw new Error("no answer");
			const ids = answer.calls.map(({ id }) => id);
			expect(new Set([...ids, "used_9", "old_1"]).size).toBe(7);
			expect(ids[1]).toBe("same_1");
			const all = [...messages, assistant(answer), ...ids.map((id) => result(id, "z"))];
			expect((await askAt(server.url, format, { request: { messages: all } })).answer?.text).toBe("done");
		});

		it("sends an id of 450 characters back only to the endpoint that wrote it", async () => {
			const long = `call_${"x".repeat(445)}`;
			await using server = await modelServer({ script: [calls({ name: "terminal", args: {}, id: long }), "one", "two"] });
			const { answer } = await askAt(server.url, format);
			if (!answer) throw new Error("no answer");
			expect(answer.calls[0]?.id).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
			const messages = [user("x"), assistant(answer), result(answer.calls[0]?.id ?? "", "y")];
			await using other = await modelServer({ script: () => "taken" });
			for (const there of FORMATS) expect((await askAt(other.url, there, { request: { messages } })).answer?.text).toBe("taken");
			for (const request of other.requests) expect(request.results[0]?.id.length).toBeLessThanOrEqual(40);
			if (format !== "chat") return; // the other two would refuse it
			expect((await askAt(server.url, format, { request: { messages } })).answer?.text).toBe("one");
			expect(server.requests[1]?.results[0]?.id).toBe(long);
		});

		it("passes on the name of a tool that there is not", async () => {
			await using server = await modelServer({ script: [calls(["rm_everything", {}])] });
			expect((await askAt(server.url, format)).answer?.calls).toMatchObject([{ name: "rm_everything", args: "{}" }]);
		});

		it("refuses a call without a name", async () => {
			await using server = await modelServer({ script: [calls(["", {}])] });
			expect((await askAt(server.url, format)).error).toMatchObject({ kind: "wrong", message: expect.stringContaining("without the name") });
		});

		it("goes by what is there, whatever the finish says", async () => {
			const finishes = [
				{ ...remove, finish: "stop" as const },
				{ ...remove, finish: "other" as const },
				{ text: "Well.", finish: "calls" as const },
			];
			await using server = await modelServer({ script: finishes });
			for (const _ of ["stop", "other"]) expect((await askAt(server.url, format)).answer).toMatchObject({ stop: "calls", calls: [{ args: RM }] });
			expect((await askAt(server.url, format)).answer).toMatchObject({ stop: "done", text: "Well.", calls: [] });
		});

		it("leaves out the call that `length` has cut, and keeps the whole one before it", async () => {
			await using server = await modelServer({
				script: [
					{ ...half, finish: "length" },
					{ calls: [...(remove.calls ?? []), ...(half.calls ?? [])], finish: "length" },
					{ ...remove, finish: "length" },
				],
			});
			expect((await askAt(server.url, format)).answer).toMatchObject({ stop: "length", cutCall: true, calls: [], text: "I'll clean. " });
			expect((await askAt(server.url, format)).answer).toMatchObject({ stop: "length", cutCall: true, calls: [{ args: RM }] });
			const whole = (await askAt(server.url, format)).answer;
			expect(whole).toMatchObject({ stop: "length", calls: [{ args: RM }] });
			expect(whole?.cutCall).toBeUndefined();
		});

		it("leaves out a call that `length` has cut before its first argument", async () => {
			await using server = await modelServer({ script: [{ ...calls(["terminal", ""]), finish: "length" }] });
			expect((await askAt(server.url, format)).answer).toMatchObject({ stop: "length", cutCall: true, calls: [] });
		});
	});

	describe("answers", () => {
		it("is empty when it says nothing", async () => {
			await using server = await modelServer({ script: [empty] });
			expect((await askAt(server.url, format)).answer).toMatchObject({ text: "", calls: [], reasoning: [], stop: "done" });
		});

		it("can be thoughts alone", async () => {
			await using server = await modelServer({ script: [{ reasoning: "Hm." }, "well"] });
			const { answer, pieces } = await askAt(server.url, format);
			if (!answer) throw new Error("no answer");
			expect(answer).toMatchObject({ text: "", calls: [], stop: "done", reasoning: [{ text: "Hm." }] });
			expect(shown(pieces, "reasoning")).toBe("Hm.");
			// It says nothing, so it is not sent back.
			const messages = [user("x"), assistant(answer), user("y")];
			expect((await askAt(server.url, format, { request: { messages } })).answer?.text).toBe("well");
		});

		it("is refused by a filter or by the model, with what was said before", async () => {
			for (const finish of ["filter", "refusal"] as const) {
				await using server = await modelServer({ script: [{ text: "I cannot", finish }] });
				const { error, waits } = await askAt(server.url, format);
				expect({ kind: error?.kind, waits }).toEqual({ kind: "refused", waits: [] });
				expect(error?.details.text ?? "").toBe(format === "responses" && finish === "refusal" ? "" : "I cannot");
			}
		});

		it("is cut short by length, as text", async () => {
			await using server = await modelServer({ script: [{ text: "And then", finish: "length" }] });
			expect((await askAt(server.url, format)).answer).toMatchObject({ text: "And then", stop: "length", calls: [] });
		});

		it("has its tokens counted by the characters when the endpoint does not", async () => {
			await using server = await modelServer({ script: [{ text: "x".repeat(350), usage: { input: 0, output: 0 } }] });
			const { answer } = await askAt(server.url, format, { request: { messages: [user("y".repeat(3500))] } });
			expect(answer?.usage).toMatchObject({ estimated: true });
			expect(answer?.usage?.output).toBeGreaterThanOrEqual(100);
			expect(answer?.usage?.input).toBeGreaterThanOrEqual(1000);
		});
	});

	describe("requests that fail", () => {
		it("is made again after what passes, 2 s later, and shown", async () => {
			for (const status of [500, 502, 503, 529, 408]) {
				await using server = await modelServer({ script: [fails(status), "fine"] });
				const { answer, pieces, waits } = await askAt(server.url, format);
				expect({ status, text: answer?.text, waits }).toEqual({ status, text: "fine", waits: [2000] });
				expect(pieces[0]).toMatchObject({ type: "retry", kind: "again", attempt: 2, waitMs: 2000, why: expect.stringContaining(`answered ${status}`) });
			}
		});

		it("is given up after five tries", async () => {
			await using server = await modelServer({ script: () => fails(503) });
			const { error, waits } = await askAt(server.url, format, { random: 1 });
			expect({ kind: error?.kind, waits, requests: server.requests.length }).toEqual({ kind: "again", waits: [2500, 5000, 10000, 20000], requests: 5 });
			expect(error?.message).toContain("failed 5 times");
		});

		const NOW = Date.UTC(2026, 10, 16, 12, 0, 0);
		const forms: readonly Record<string, string>[] = [
			{ "retry-after": "3" },
			{ "retry-after": new Date(NOW + 3000).toUTCString() },
			{ "retry-after-ms": "3000" },
		];
		it("obeys retry-after in seconds, as a date and in milliseconds", async () => {
			for (const headers of forms) {
				await using server = await modelServer({ script: [fails(429, { headers, type: "rate_limit_error", message: "slow down" }), "fine"] });
				const { answer, pieces, waits } = await askAt(server.url, format, { now: NOW, random: 0.99 });
				expect(answer?.text).toBe("fine");
				expect(waits.every((ms) => ms >= 3000 && ms <= 4000)).toBe(true);
				expect(pieces[0]).toMatchObject({ type: "retry", kind: "later", why: expect.stringContaining("slow down") });
			}
		});

		it("stops and names the time when it has to wait for longer than a minute", async () => {
			await using server = await modelServer({ script: [fails(429, { headers: { "retry-after": "3600" }, message: "slow down" })] });
			const { error, waits } = await askAt(server.url, format, { now: NOW });
			const until = new Date(NOW + 3_600_000);
			const time = `${String(until.getHours()).padStart(2, "0")}:${String(until.getMinutes()).padStart(2, "0")}`;
			expect({ kind: error?.kind, waits, ms: error?.details.retryAfterMs }).toEqual({ kind: "later", waits: [], ms: 3_600_000 });
			expect(error?.message).toContain(`until ${time}`);
		});

		it("waits for a rate limit without a header as for an error", async () => {
			await using server = await modelServer({ script: [fails(429), fails(429), "fine"] });
			expect((await askAt(server.url, format)).waits).toEqual([2000, 4000]);
		});

		it("stops at 401 in the middle of a conversation, and says what to do", async () => {
			await using server = await modelServer({ script: [calls(["terminal", {}]), fails(401, { message: "revoked", type: "authentication_error" })] });
			await askAt(server.url, format);
			expect((await askAt(server.url, format)).error).toMatchObject({ kind: "key", message: expect.stringMatching(/revoked; check the key with/) });
		});

		it("stops at a page instead of an answer", async () => {
			const page = "<!doctype html><html><head><title>Welcome to nginx</title></head><body>hello</body></html>";
			await using server = await modelServer({
				script: [fails(200, { body: page, headers: { "content-type": "text/html" } }), fails(404, { body: page, headers: { "content-type": "text/html" } })],
			});
			expect((await askAt(server.url, format)).error).toMatchObject({ kind: "wrong", message: expect.stringContaining("web page") });
			expect((await askAt(server.url, format)).error).toMatchObject({ kind: "wrong", message: expect.stringContaining('a web page, "Welcome to nginx"') });
		});

		it("is made again when a gateway answers with a page", async () => {
			await using server = await modelServer({
				script: [fails(502, { body: "<html><title>Bad gateway</title></html>", headers: { "content-type": "text/html" } }), "fine"],
			});
			expect((await askAt(server.url, format)).answer?.text).toBe("fine");
		});

		it("reads an error that comes with 200, and an answer that does not stream", async () => {
			const body = JSON.stringify({ error: { message: "upstream is gone", code: 502 } });
			await using server = await modelServer({ script: [fails(200, { body }), "fine", { text: "whole", fault: { kind: "no stream" } }] });
			expect((await askAt(server.url, format)).answer?.text).toBe("fine");
			expect((await askAt(server.url, format)).error).toMatchObject({ kind: "wrong", message: expect.stringContaining("although a stream was asked for") });
		});

		it("is made again when the connection is closed without an answer, and when nobody listens", async () => {
			await using server = await modelServer({
				script: [broken(empty, { kind: "cut", at: "headers" }), broken(empty, { kind: "cut", at: "headers", how: "end" }), "fine"],
			});
			expect((await askAt(server.url, format)).answer?.text).toBe("fine");
			const { error, waits } = await askAt(`http://127.0.0.1:${await freePort()}/v1`, format);
			expect({ kind: error?.kind, tries: waits.length + 1 }).toEqual({ kind: "again", tries: 5 });
			expect(error?.message).toContain("ECONNREFUSED");
		});

		it("does not follow a redirect, which would take the key along", async () => {
			await using other = await modelServer({ script: ["stolen"] });
			await using server = await modelServer({ script: [fails(307, { headers: { location: `${other.url}/chat/completions` } })] });
			expect((await askAt(server.url, format)).error).toMatchObject({ kind: "wrong", message: expect.stringContaining("redirects to http://127.0.0.1") });
			expect(other.requests).toEqual([]);
		});

		it("asks for the key each time, and puts it into its header alone", async () => {
			await using server = await modelServer({ script: ["one", "two"] });
			let n = 0;
			const key = async () => `${KEY}-${++n}`;
			await askAt(server.url, format, { key });
			await askAt(server.url, format, { key });
			const names = format === "anthropic" ? ["x-api-key", "authorization"] : ["authorization"];
			for (const name of names) expect(server.requests.map(({ headers }) => String(headers[name]).replace(/^Bearer /, ""))).toEqual([`${KEY}-1`, `${KEY}-2`]);
			for (const { body, headers } of server.requests) {
				const rest = Object.entries(headers).filter(([header]) => !names.includes(header));
				expect(JSON.stringify([body, rest])).not.toContain(KEY);
			}
		});

		it("says why the key cannot be read, and sends nothing", async () => {
			await using server = await modelServer({ script: [] });
			const key = () => Promise.reject(new Error("the key file /k is not there; run setup"));
			expect((await askAt(server.url, format, { key })).error).toMatchObject({ kind: "key", message: "the key file /k is not there; run setup" });
			expect(server.requests).toEqual([]);
		});

		it("ends with the signal's reason, before, during and between tries", async () => {
			await using server = await modelServer({ script: () => broken(remove, { kind: "stall", at: "text" }) });
			const reason = new Error("the user pressed Esc");
			await expect(askAt(server.url, format, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
			expect(server.requests).toEqual([]);
			const stop = new AbortController();
			const run = askAt(server.url, format, { signal: stop.signal });
			await server.arrived(1);
			stop.abort(reason);
			await expect(run).rejects.toBe(reason);
		});
	});
});

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
	const server = net.createServer();
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as net.AddressInfo;
	await new Promise((resolve) => server.close(resolve));
	return port;
}
