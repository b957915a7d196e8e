/** Small stories of conversations: the lines of each, as a program appends them. `golden.test.ts` compares what each is on the wire. */
import type { EntryBody, ResultHow } from "../../../src/talk/index.js";
import { reasoningOf } from "./wire.js";

export interface Story {
	/** The name of its file. */
	readonly name: string;
	readonly title: string;
	readonly about: string;
	readonly lines: readonly EntryBody[];
}

const BY = { platform: "terminal", person: "jo" };
let said = 0;
const user = (text: string, more: object = {}): EntryBody => ({ t: "user", id: `m${++said}`, text, by: BY, ...more });
const notice = (text: string): EntryBody => ({ t: "notice", id: `proc_8d33aa11bb22-${++said}`, text });
const call = (id: string, command: string) => ({ id, name: "terminal", args: JSON.stringify({ command }) });
type Assistant = Extract<EntryBody, { t: "assistant" }>;
const answer = (text: string, more: Partial<Assistant> = {}): EntryBody => ({ t: "assistant", text, calls: [], stop: "done", model: "m", ...more });
const makes = (...calls: Assistant["calls"]): EntryBody => answer("", { calls, stop: "calls" });
const result = (id: string, text: string, how: ResultHow = "ran", more: object = {}): EntryBody => ({
	t: "result",
	call: id,
	text,
	failed: false,
	how,
	...more,
});
const LONG = Array.from({ length: 400 }, (_, line) => `${line} compiling module ${line}\n`).join("");

/** Behind the line `begun`, with this model. */
const story = (name: string, title: string, about: string, lines: readonly EntryBody[], model = "model-of-chat"): Story => {
	said = 0;
	return { name, title, about, lines: [{ t: "begun", v: 1, id: "20261116_064410_a1b2c3", task: "chat", place: "local", model }, ...lines] };
};

export const stories = (): Story[] => [
	story("01-answer", "A question and its answer", "The request that follows the second message.", [
		user("hello"),
		answer("Hello! What can I do?"),
		user("what is here?"),
	]),
	story("02-call", "A call and its result", "", [user("what is here?"), makes(call("c1", "ls")), result("c1", "README.md\nsrc\n")]),
	story("03-text-and-calls", "Text and two calls in one answer", "Results stand in the order of the calls.", [
		user("test it"),
		answer("I look and run the tests.", { calls: [call("c1", "ls"), call("c2", "npm test")], stop: "calls" }),
		result("c1", "src\n"),
		result("c2", "1 failed\n", "ran", { failed: true }),
	]),
	story(
		"04-steer-in-second-of-three",
		"A message in the middle of three calls (steer)",
		"The running command goes on in the background, the third is skipped, then comes the message.",
		[
			user("deploy"),
			makes(call("c1", "make"), call("c2", "make test"), call("c3", "make deploy")),
			result("c1", "built\n"),
			result("c2", "running in the background as proc_8d33aa11bb22", "ran", { process: "proc_8d33aa11bb22" }),
			result("c3", "not run: the user wrote again", "skipped"),
			user("not to live, to test"),
		],
	),
	story(
		"05-interrupt-in-call",
		"An interrupt while a command runs",
		"The command is killed with its tree; the rest is skipped; nothing else until the person writes.",
		[
			user("wait a bit"),
			makes(call("c1", "sleep 600"), call("c2", "ls")),
			result("c1", "interrupted, exit code 130", "ran", { failed: true }),
			result("c2", "not run: the user interrupted", "skipped"),
			{ t: "stopped", why: "interrupted", text: "Stopped." },
			user("never mind"),
		],
	),
	story("06-crash-after-first-result", "The program is killed after the first of two results", "The second call has its true result, found after the crash.", [
		user("build and test"),
		makes(call("c1", "make"), call("c2", "make test")),
		result("c1", "built\n"),
		result("c2", "12 passed\n", "recovered"),
	]),
	story("07-crash-unknown", "A call whose end nobody knows", "", [
		user("write the file"),
		makes({ id: "c1", name: "write_file", args: '{"path":"a","content":"b"}' }),
		result("c1", "Not known: whether this was done, and how it ended. Look before you repeat it.", "unknown", { failed: true }),
	]),
	story("08-crash-all-skipped", "A crash at the same step twice", "Nothing is made again; the person is asked.", [
		user("reboot it"),
		makes(call("c1", "reboot")),
		result("c1", "Not run: the program was cut short at this step more than once, so the user is asked first.", "skipped"),
		{ t: "stopped", why: "crashes", text: "…" },
		user("go on"),
	]),
	story("09-notice-during-stream", "A notice while the answer streams", "It waits until the answer is whole.", [
		user("how is the build?"),
		answer("It still runs."),
		notice("proc_8d33aa11bb22 ended with exit code 0"),
	]),
	story("10-notice-after-results", "A notice while a command runs", "It waits until all results are there.", [
		user("look around"),
		makes(call("c1", "ls")),
		result("c1", "src\n"),
		notice("proc_8d33aa11bb22 ended with exit code 1"),
	]),
	story(
		"11-steer-while-streaming",
		"A message while the answer streams (steer)",
		"The text so far stays as text, the model is told that it is not whole, then comes the message.",
		[user("explain git"), { t: "partial", text: "Git is a version control system that ", why: "interrupted" }, user("shorter")],
	),
	story("12-cut-stream", "A stream that was cut, and asked again", "Nothing of its calls is kept.", [
		user("explain git"),
		{ t: "partial", text: "Git is a version", why: "cut" },
		answer("control system."),
		user("thanks"),
	]),
	story("13-cut-twice", "A stream that was cut twice", "", [
		user("explain git"),
		{ t: "partial", text: "Git is", why: "cut" },
		{ t: "partial", text: " a version", why: "cut" },
	]),
	story("14-length", "An answer that reached its limit", "", [user("write a book"), { t: "partial", text: "Chapter 1", why: "length" }]),
	story("15-length-in-call", "A call that reached the limit", "The whole call runs; of the cut one nothing is there but a note.", [
		user("write two files"),
		answer("", { calls: [call("c1", "echo one > a")], stop: "length" }),
		result("c1", ""),
		{ t: "note", text: "Your last call reached the limit of an answer's length and was not run." },
	]),
	story("16-empty-answer", "An empty answer", "It is not stored; the second time a note asks for one.", [
		user("hello?"),
		{ t: "note", text: "your answer was empty" },
	]),
	story("17-bad-arguments", "Arguments that are no JSON", "They are kept as written, go on the wire as {}, and the result quotes them.", [
		user("clean up"),
		makes({ id: "c1", name: "terminal", args: '{"command":"rm -rf bu' }),
		result("c1", 'not run: the arguments are no JSON (position 21: the text ends): {"command":"rm -rf bu', "refused", { failed: true }),
	]),
	story("18-arguments-no-object", "Arguments that are JSON, but no object", "", [
		user("clean up"),
		makes({ id: "c1", name: "terminal", args: '["ls"]' }),
		result("c1", "not run: the arguments must be an object", "refused", { failed: true }),
	]),
	story("19-unknown-tool", "A tool that there is not", "", [
		user("look"),
		makes({ id: "c1", name: "list_dir", args: "{}" }),
		result("c1", "there is no tool list_dir; there are terminal, process, read_file", "refused", { failed: true }),
	]),
	story("20-denied", "A person says no", "", [
		user("push"),
		makes(call("c1", "git push --force")),
		result("c1", "the user did not allow this: not on main", "refused", { failed: true }),
	]),
	story(
		"21-reasoning-anthropic",
		"Reasoning of Anthropic, sent back to the same model",
		"Other formats are not sent it.",
		[
			user("think"),
			answer("Done thinking.", { reasoning: [reasoningOf("anthropic", "Let me see.", "1")], calls: [call("c1", "ls")], stop: "calls" }),
			result("c1", "src\n"),
		],
		"model-of-anthropic",
	),
	story(
		"22-reasoning-responses",
		"Reasoning of responses, directly before the call it led to",
		"",
		[user("think"), answer("", { reasoning: [reasoningOf("responses", "Let me see.", "1")], calls: [call("c1", "ls")], stop: "calls" }), result("c1", "src\n")],
		"model-of-responses",
	),
	story(
		"23-reasoning-chat",
		"Reasoning of chat completions, under the name that it came with",
		"",
		[user("think"), answer("", { reasoning: [reasoningOf("chat", "Let me see.", "1")], calls: [call("c1", "ls")], stop: "calls" }), result("c1", "src\n")],
		"model-of-chat",
	),
	story(
		"24-model-change",
		"Another model in the middle of a conversation",
		"The reasoning of the model before is dropped in every format, the calls and results stay.",
		[
			user("think"),
			answer("", { reasoning: [reasoningOf("anthropic", "Let me see.", "1")], calls: [call("c1", "ls")], stop: "calls" }),
			result("c1", "src\n"),
			answer("There is src."),
			{ t: "set", model: "model-of-chat" },
			user("and in there?"),
		],
		"model-of-anthropic",
	),
	story(
		"25-model-change-and-back",
		"Another model, and back again",
		"What the first model thought goes to it again; what the second thought does not.",
		[
			user("think"),
			answer("First.", { reasoning: [reasoningOf("anthropic", "I was first.", "1")] }),
			{ t: "set", model: "model-of-chat" },
			user("you too"),
			answer("Second.", { reasoning: [reasoningOf("chat", "I was second.", "2")] }),
			{ t: "set", model: "model-of-anthropic" },
			user("and you again"),
		],
		"model-of-anthropic",
	),
	story("26-undo", "A turn that was taken back", "", [
		user("hello"),
		answer("Hello!"),
		user("delete it all"),
		makes(call("c1", "ls")),
		result("c1", "src\n"),
		answer("Shall I?"),
		{ t: "undone", from: 3 },
		user("what is here?"),
	]),
	story("27-retry", "The same message once more", "", [user("tell a joke"), answer("No."), { t: "undone", from: 1 }, user("tell a joke")]),
	story("28-summary", "A summary", "It stands for everything up to its line, and what follows is sent as it is.", [
		user("build it"),
		makes(call("c1", "make")),
		result("c1", "built\n"),
		answer("It is built."),
		user("test it"),
		{
			t: "summary",
			upto: 4,
			text: "Goal: build and test the project.\nDone: `make` built it.\n\nRunning processes:\n- proc_8d33aa11bb22 web (3 h)",
			before: 20_000,
			after: 900,
		},
	]),
	story("29-summary-in-a-turn", "A summary in the middle of a long turn", "What stays begins with an answer, and never with a result.", [
		user("fix all tests"),
		makes(call("c1", "npm test")),
		result("c1", "3 failed\n"),
		makes(call("c2", "cat a.test.ts")),
		result("c2", "…\n"),
		{
			t: "summary",
			upto: 3,
			text: "Goal: fix all tests. Three fail.\n\nThe user's last message, which you are working on, in their own words:\nfix all tests",
			before: 20_000,
			after: 900,
		},
	]),
	story("30-two-summaries", "A second summary", "", [
		user("one"),
		answer("1"),
		user("two"),
		{ t: "summary", upto: 2, text: "Said: one.", before: 100, after: 10 },
		answer("2"),
		user("three"),
		{ t: "summary", upto: 5, text: "Said: one and two.", before: 100, after: 10 },
	]),
	story("31-shortened", "Old results in short", "Each names the call that reads it back; short ones and new ones stay whole.", [
		user("build it"),
		makes(call("c1", "make"), call("c2", "ls")),
		result("c1", LONG, "ran", { process: "proc_8d33aa11bb22" }),
		result("c2", "src\n"),
		{ t: "shortened", upto: 4, before: 9_000, after: 900 },
		makes(call("c3", "make test")),
		result("c3", "12 passed\n"),
	]),
	story("32-three-messages", "Three messages that came together", "", [user("one"), user("two"), user("three")]),
	story("33-file", "A message with a file, and one that is only a file", "", [
		user("read this", { files: [{ name: "notes.txt", path: "/home/jo/notes.txt", bytes: 12_345 }] }),
		answer("I have read it."),
		user("", { files: [{ name: "more.txt", path: "/home/jo/more.txt", bytes: 7 }] }),
	]),
	story("34-odd-ids", "Ids of calls that other endpoints would refuse", "The same short one stands for each, in call and result.", [
		user("look"),
		makes(call("functions.terminal:0", "ls"), call(`call_${"x".repeat(80)}`, "pwd")),
		result("functions.terminal:0", "src\n"),
		result(`call_${"x".repeat(80)}`, "/home/jo\n"),
	]),
	story("35-no-output", "A command that prints nothing", "", [user("touch a"), makes(call("c1", "touch a")), result("c1", "")]),
	story("36-lines-no-model-sees", "Lines that no model is sent", "A title, a failure and the end may stand anywhere.", [
		user("look"),
		makes(call("c1", "lss")),
		{ t: "set", title: "looking around" },
		result("c1", "lss: not found", "ran", { failed: true }),
		{ t: "failure", turn: 1, tool: "terminal", args: '{"command":"lss"}', error: "exit code 127" },
		{ t: "ended", why: "idle for 24 h" },
		user("I am back"),
	]),
];
