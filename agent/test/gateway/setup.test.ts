/** What setup asks for of a platform, before it tries the account. The wizard itself is in cli.test.ts. */
import { expect, test } from "vitest";
import { PLATFORMS } from "../../src/gateway/index.js";
import { requiredSettings, tryPlatform, typedValue, withSetting } from "../../src/setup/platform.js";

test("each platform asks for what has no default, and what is typed fits its settings", () => {
	expect(Object.fromEntries(Object.keys(PLATFORMS).map((kind) => [kind, requiredSettings(kind)]))).toEqual({
		telegram: [],
		slack: [],
		discord: [],
		matrix: ["homeserver"],
		xmpp: ["jid"],
		email: ["address", "imap.host", "smtp.host"],
		irc: ["host", "nick"],
	});
	const typed: Readonly<Record<string, string>> = {
		homeserver: "https://matrix.test",
		jid: "bot@test",
		address: "bot@b.test",
		"imap.host": "imap.b.test",
		"smtp.host": "smtp.b.test",
		host: "irc.test",
		nick: "bot",
	};
	for (const [kind, { settings }] of Object.entries(PLATFORMS)) {
		const given = requiredSettings(kind).reduce((all, name) => withSetting(all, name, typedValue(typed[name] ?? "")), {});
		expect([kind, settings.safeParse(given).error?.issues]).toEqual([kind, undefined]);
	}
});

test("a setting that does not fit is named in one line", async () => {
	const draft = { name: "email", kind: "email", settings: { address: "nobody", imap: { host: "a" }, smtp: "{ broken" }, secrets: { password: "x" } };
	await expect(tryPlatform(draft)).rejects.toThrow(/^address: an address: name@server; smtp: .*expected object/);
	expect(["8", "true", '["#a"]', '{"host":"a"}', "{ broken", " word "].map(typedValue)).toEqual([8, true, ["#a"], { host: "a" }, "{ broken", "word"]);
});
