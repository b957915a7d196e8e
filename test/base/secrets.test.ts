import { describe, expect, test } from "vitest";
import { childEnvironment } from "../../src/base/environment.js";
import { isMasked, Redactor, reveal } from "../../src/base/secrets/index.js";
import { KnownValues } from "../../src/base/secrets/known.js";
import { redactScreen } from "../../src/base/secrets/screen.js";

const secrets = new Redactor();

// Put together here, so that nothing that looks like a key is in this file.
const RANDOM = "Ab3dEf7hIj1kLm5nOp9qRs2tUv6wXy0zAb3dEf7hIj1kLm5nOp9q";
const HEX = "0123456789abcdef".repeat(4);
const JWT = `eyJ${RANDOM.slice(0, 30)}.eyJ${RANDOM.slice(0, 30)}.${RANDOM}`;
const PEM_BODY = `MII${RANDOM}${RANDOM.slice(0, 9)}\nA${RANDOM}\n${RANDOM.slice(0, 20)}==`;
const pem = (kind: string) => `-----BEGIN ${kind} PRIVATE KEY-----\n${PEM_BODY}\n-----END ${kind} PRIVATE KEY-----`;

/** What stays to be seen, and what must not. */
const SECRETS: readonly (readonly [before: string, secret: string, after?: string])[] = [
	["sk-ant-", `api03-${RANDOM}`],
	["sk-proj-", RANDOM],
	["sk-", HEX.slice(0, 32)],
	["AKIA", "Q3EXAMPLE7KEYS2Z"],
	["aws_secret_access_key = ", RANDOM.slice(0, 40)],
	["ghp_", RANDOM.slice(0, 36)],
	["github_pat_", RANDOM],
	["glpat-", RANDOM.slice(0, 20)],
	["xoxb-", `123456789012-${RANDOM.slice(0, 24)}`],
	["AIza", RANDOM.slice(0, 35)],
	["sk_live_", RANDOM.slice(0, 24)],
	["npm_", RANDOM.slice(0, 36)],
	["pypi-", `AgE${RANDOM}`],
	["hf_", RANDOM.slice(0, 34)],
	["123456789:", `AA${RANDOM.slice(0, 33)}`],
	["MTA", `xMjM0NTY3ODkwMTIzNDU2.GabcDe.${RANDOM.slice(0, 38)}`],
	["https://hooks.slack.com/services/", `T0123/B0123/${RANDOM.slice(0, 24)}`],
	["Authorization: Bearer ", RANDOM],
	["curl -H 'authorization: Basic ", "dXNlcjpwYXNzd29yZDE=", "' http://x/"],
	["X-Api-Key: ", RANDOM.slice(0, 20)],
	["postgres://me:", "p4ss!word", "@localhost:5432/db"],
	["eyJ", JWT.slice(3)],
	["DB_PASSWORD=", "hunter2", "\nHOME=/home/me"],
	["export SLACK_BOT_TOKEN='", "words of no kind", "'"],
	['{"client_secret": "', HEX.slice(0, 20), '"}'],
	["deploy --token ", "abc123xyz789", " --verbose"],
	["_authToken=", HEX.slice(0, 36)],
	["client-key-data: ", `LS0t${RANDOM}`],
];

describe("masks", () => {
	test.each(SECRETS.map(([before, secret, after = ""]) => ({ before, secret, after })))("$before…", ({ before, secret, after }) => {
		const text = `first line\nsee ${before}${secret}${after}\nlast line`;
		const masked = secrets.redact(text);
		expect(masked.slice(0, masked.indexOf("…"))).toBe(`first line\nsee ${before}`);
		expect(masked.endsWith(`${after}\nlast line`)).toBe(true);
		for (let at = 0; at + 6 <= secret.length; at++) expect(masked).not.toContain(secret.slice(at, at + 6));
		expect(masked.length).toBeLessThanOrEqual(text.length);
		expect(secrets.redact(masked)).toBe(masked); // once is enough
		expect(isMasked({ deep: [masked] })).toBe(true);
	});

	test("private keys whole, and without their beginning or end", () => {
		for (const kind of ["RSA", "OPENSSH", "EC"]) {
			const [whole, lines] = [`a\n${pem(kind)}\nb`, pem(kind).split("\n")];
			for (const text of [whole, `a\n${lines.slice(0, -1).join("\n")}`, `words of prose\n${lines.slice(1).join("\n")}\nb`, JSON.stringify({ key: pem(kind) })])
				for (const line of PEM_BODY.split("\n")) expect(secrets.redact(text)).not.toContain(line.slice(0, 15));
			expect(secrets.redact(whole)).toMatch(/^a\n-----BEGIN \w+ PRIVATE KEY-----\n…\[redacted\]\n-----END \w+ PRIVATE KEY-----\nb$/);
		}
	});

	test("colours that begin in the middle of it stay, nothing else", () => {
		expect(secrets.redact(`\x1b]0;sk-ant-api03-${RANDOM}\x07 \x1b[1msk-ant-api03-${RANDOM}\x1b]8;;http://me:${RANDOM}@host/\x1b\\`)).not.toContain(RANDOM);
		expect(secrets.hideLive(`\x1b]0;sk-ant-api03-${RANDOM.slice(0, 9)}`).open).toBeGreaterThanOrEqual(`api03-${RANDOM.slice(0, 9)}`.length);
		expect(secrets.redact(`\x1b[1;31msk-\x1b[mant-\x1b[Kapi03-${RANDOM}\x1b[0m end`)).toBe("\x1b[1;31msk-\x1b[mant-\x1b[K…[redacted]\x1b[0m end");
	});

	test("on a screen, over the ends of full rows, everything in its place", () => {
		const row = `${"x".repeat(10)} sk-ant-`;
		const screen = `first\n${row}${RANDOM.slice(0, 12)}\n${RANDOM.slice(12)} end`;
		const masked = redactScreen(secrets, screen, 30);
		expect(masked).toBe(`first\n${row}…[redacted]*\n…[redacted]${"*".repeat(RANDOM.length - 12 - 11)} end`);
	});

	test("values it has been told of, in every dress; but no common word", () => {
		const value = `corr"ect horse/9 ${RANDOM.slice(0, 6)}`;
		secrets.know(value);
		for (const shift of ["", "u", "us"]) expect(secrets.redact(Buffer.from(`${shift}${value}!`).toString("base64"))).toContain("…[redacted]");
		for (const form of [value, JSON.stringify({ value }), encodeURIComponent(value)]) expect(secrets.redact(`<${form}>`)).not.toContain(RANDOM.slice(0, 6));
		for (const word of ["production", "12345678", "short7", "/etc/passwd"]) {
			secrets.know(word);
			expect(secrets.redact(`it is ${word} here`)).toBe(`it is ${word} here`);
		}
	});

	test("every text in a result, however deep", () => {
		expect(secrets.redactAll({ a: [`AKIA${"Q3EXAMPLE7KEYS2Z"}`], b: { c: 1, d: null } })).toEqual({ a: ["AKIA…[redacted]"], b: { c: 1, d: null } });
	});
});

describe("masks keys that follow something else at once", () => {
	const keys = [`sk-ant-api03-${RANDOM}`, `ghp_${RANDOM.slice(0, 36)}`, `AKIA${"Q3EXAMPLE7KEYS2Z"}`, `AIza${RANDOM.slice(0, 35)}`, JWT];
	const gone = (text: string, key: string) => {
		const body = key.replace(/^(?:sk-ant-|ghp_|AKIA|AIza|eyJ)/, "");
		for (let at = 0; at + 12 <= body.length; at++) expect(text).not.toContain(body.slice(at, at + 12));
	};

	test.each(keys.map((key) => [key.slice(0, 7), key]))("an escape before %s…, as JSON, a program's notation or a URL writes it", (_, key) => {
		const escapes = ["\n", "\t", "\r", "\b", "\f", "\x1b[32m", "\x1b[1;31m", "\u0007"];
		for (const before of escapes) gone(secrets.redact(JSON.stringify({ log: `step 1${before}${key}${before}step` })), key);
		for (const written of ["\\x1b[32m", "\\033[0;32m", "\\e[1m", "\\u{1b}[32m", "^[[32m", "\\\\n", "\\x0a", "%0A", "token%3D", "=3D", "\\v"])
			gone(secrets.redact(`'step 1${written}${key}'`), key);
	});

	test("names too", () => {
		expect(secrets.redact(JSON.stringify({ env: "A=1\nDB_PASSWORD=hunter2" }))).not.toContain("hunter2");
		expect(secrets.redact("{ log: 'x\\x1b[32mDB_PASSWORD=hunter2 y' }")).not.toContain("hunter2");
	});

	test.each(keys.flatMap((first) => keys.map((second) => [first.slice(0, 7), second.slice(0, 7), first + second, second])))(
		"%s… and then %s…",
		(_, __, both, second) => {
			gone(secrets.redact(`${both}\n`), second);
			for (let at = 1; at < both.length; at++) {
				const [before, after] = [both.slice(0, at), both.slice(at)];
				expect(secrets.hide(before, { after }) + secrets.hide(after, { before })).toBe(secrets.hide(both));
			}
		},
	);

	test("but not the end of a longer word", () => {
		for (const text of [`task-2024-01-02-a-rather-long-name-99`, `C:\\tasks\\ask-12-34-56-abcdefghijklmnop`, `x${"AKIA"}Q3EXAMPLE7KEYS2ZZ9`])
			expect(secrets.redact(text)).toBe(text);
	});
});

test("a known value is masked however a URL, HTML, JSON or a program writes it", () => {
	const marks = RANDOM.slice(3, 13);
	const value = `a/b c~(${marks})*&<d>'"+${marks}!`;
	secrets.know(value);
	const quoted = encodeURIComponent(value).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
	const html = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
	const forms = {
		"urllib.parse.quote": quoted.replaceAll("%2F", "/"),
		"urllib.parse.quote with no safe characters": quoted,
		"urllib.parse.quote_plus": quoted.replaceAll("%20", "+"),
		"small letters": quoted.toLowerCase().replaceAll(marks.toLowerCase(), marks),
		URLSearchParams: new URLSearchParams({ value }).toString(),
		encodeURI: encodeURI(value),
		"html.escape": html.replaceAll('"', "&quot;").replaceAll("'", "&#x27;"),
		"HTML with &#39;": html.replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
		"HTML text": html,
		"JSON of Go": JSON.stringify(value).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
		"JSON of PHP": JSON.stringify(value).replaceAll("/", "\\/"),
		repr: `'${value.replaceAll("'", "\\'")}'`,
		"a shell's quotes": `'${value.replaceAll("'", "'\\''")}'`,
	};
	for (const [name, form] of Object.entries(forms)) expect(secrets.redact(`see ${form} end`), name).not.toContain(marks);
});

test("thousands of known values are all masked, and those of ended tasks go first", () => {
	const secret = (number: number) => `pw-${number}-${RANDOM.slice(0, 10)}${number}`;
	for (let number = 0; number < 5_000; number++) secrets.know(secret(number), { task: `task-${number}` });
	for (const number of [0, 1_999, 2_000, 2_001, 4_999]) expect(secrets.redact(`see ${secret(number)}.`)).toBe("see …[redacted].");
	expect(secrets.hideLive(`see ${secret(4_999).slice(0, 9)}`).open).toBe(9);
	secrets.know(secret(0), { task: "another" });
	for (let number = 0; number < 5_000; number++) secrets.forget(`task-${number}`);
	expect(secrets.redact(`see ${secret(4_999)}.`)).toBe("see …[redacted]."); // its log can still be read
	expect(secrets.redact(`see ${secret(0)}.`)).toBe("see …[redacted]."); // another task has it too
	expect(secrets.redact(`see ${secret(1)}.`)).toBe(`see ${secret(1)}.`);
	expect(secrets.overflows).toBe(false);
	secrets.forget("another");
});

test("values that cannot be remembered any more are said to be so", () => {
	const values = new KnownValues();
	const value = (number: number) => `${number}-${RANDOM.repeat(100)}`;
	for (let number = 0; !values.full && number < 10_000; number++) values.add(value(number), "task");
	expect(values.full).toBe(true);
	expect(values.find(value(0), 0)).toEqual({ hide: [0, value(0).length] });
	values.forget("task");
	expect(values.add("another-9-value", "task")).not.toEqual([]);
});

test("a piece of a text is masked by what is around it, and an unfinished end is known to be one", () => {
	const text = `see sk-ant-api03-${RANDOM} and postgres://me:p4ssw0rd@host, ${JWT}\n${pem("RSA")}\n`;
	const whole = secrets.hide(text);
	for (let at = 1; at < text.length; at++) {
		const [before, after] = [text.slice(0, at), text.slice(at)];
		expect(secrets.hide(before, { after }) + secrets.hide(after, { before })).toBe(whole);
		// Who reads while it is printed: what is not shown now is shown, masked, with the rest.
		const { text: shown, open } = secrets.hideLive(before);
		const read = shown.slice(0, shown.length - open);
		for (const secret of ["AbcdEf", RANDOM.slice(0, 8), "p4ssw0r"]) expect(read).not.toContain(secret);
	}
	for (const prompt of ["listening on http://localhost:3000", "Password: ", "Authorization: Bearer ", "key sk-"]) expect(secrets.hideLive(prompt).open).toBe(0);
	expect(secrets.redact("a \ufdd0\ufdd0 b")).toBe("a \ufffd\ufffd b"); // what looks hidden, but is not
	expect(secrets.redact(`cut off: sk-ant-${RANDOM.slice(0, 9)}`, { cut: true })).not.toContain(RANDOM.slice(0, 4));
});

test("leaves ordinary text alone", () => {
	const ordinary = [
		"o.key=r.C0.ESC+a; progressToken: ProgressTokenSchema$1; const startAuthorization = require_public.startAuthorization1; _key = _pep_440_key",
		'readonly STENCIL_PASS_DEPTH_FAIL: 0x0B95; "pass": "\u8981\u7d20\u306b0\u3088\u308a", secret: thisIsSomeName2',
		"commit 3f786850e387550fdab836ed7e6dc881de23001b\nindex 89e6c98d92..887ae9333d 100644",
		"550e8400-e29b-41d4-a716-446655440000 sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
		`data:image/png;base64,${Buffer.from(Array.from({ length: 3000 }, (_, n) => (n * 7919) & 255)).toString("base64")}`,
		"const token = await getToken2(); if (password === null) throw new Error('password missing');",
		"export function apiKey(name: string): string { return process.env[`${name}_API_KEY`] ?? config.apiKey1; }",
		"TOKENIZERS_PARALLELISM=false\nKEYBOARD_LAYOUT=de-latin1\nSSH_KEY_PATH=/home/me/.ssh/id_ed25519\nMAX_TOKENS=4096\nPWD=/tmp/x1\nSSH_AUTH_SOCK=/tmp/ssh-1/agent.1",
		'API_KEY=$API_KEY PASSWORD=${PASSWORD:-} curl -H "Authorization: Bearer $TOKEN" http://localhost:8080/token',
		"  --token string      Bearer token for authentication\n  --password-stdin    Take the password from stdin",
		"http://127.0.0.1:3000/ git@github.com:a/b.git ssh://git@host:22/x https://user:password@example.com/",
		".sk-fading-circle-container-wrapper { color: red } sk-estimator-doc-link-documentation",
		"-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
		'START = b"-----BEGIN PRIVATE KEY-----"\nEND = b"-----END PRIVATE KEY-----"',
		"the -----BEGIN PRIVATE KEY----- line comes first, then the body",
		'"key": "value1", "cacheKey": "users1", "keys": ["a1b2c3d4e5"], "public_key": "AAAAB3NzaC1yc2E1", "tokenType": "Bearer1234567"',
	];
	for (const text of ordinary) expect(secrets.redact(text)).toBe(text);
});

test("takes time in proportion to the text, whatever is in it", () => {
	const hostile = [
		"sk-",
		"eyJ-",
		"key_key=",
		"://a:",
		"authorization=xxx",
		"-----BEGIN PRIVATE KEY-----\n",
		"+\n-----END PRIVATE KEY-----",
		"\x1b]",
		'password="',
		"AIza-",
		`AKIA${"A".repeat(16)}sk-`,
		"\\nsk-",
		"%0AAIza",
		"\\u001b[32m",
	];
	for (const piece of hostile) expect(reveal(secrets.hide(piece.repeat(100_000))).length).toBeGreaterThan(0); // what is not linear never comes back
	const line = `-----BEGIN PRIVATE KEY-----\n${"+".repeat(16_000)}!\n`;
	expect(secrets.hide(line.repeat(50))).toHaveLength(line.length * 50);
});

test("a child gets what is the user's own, and no secrets, leftovers or variables of ours unless they are named", () => {
	const own = {
		PATH: "/bin",
		LANG: "de_DE.UTF-8",
		SSH_AUTH_SOCK: "/tmp/agent",
		DISPLAY: ":0",
		GPG_AGENT_INFO: "x",
		TOKENIZERS_PARALLELISM: "false",
		OPENAI_MAX_TOKENS: "4096",
		SSH_KEY_PATH: "/k",
		KEYBOARD_LAYOUT: "us",
		HTTPS_PROXY: "http://me:pr0xypass@proxy:3128",
		AWS_REGION: "eu-west-1",
	};
	const out = {
		OPENAI_API_KEY: "k1",
		ANTHROPIC_API_KEY: "k2",
		AWS_ACCESS_KEY_ID: "k3",
		AWS_SECRET_ACCESS_KEY: "k4",
		AWS_SESSION_TOKEN: "k5",
		GH_TOKEN: "k6",
		NPM_TOKEN: "k7",
		TELEGRAM_BOT_TOKEN: "k8",
		PGPASSWORD: "k9",
		MYSQL_PWD: "k10",
		GOOGLE_APPLICATION_CREDENTIALS: "/x.json",
		AUXILIARY_7_API_KEY: "k11",
		DATABASE_URL: "postgres://me:p4ssw0rd@db/x",
		INNOCENT: `ghp_${RANDOM.slice(0, 36)}`,
		HOLDFAST_HOME: "/h",
		npm_config_registry: "x",
		VIRTUAL_ENV: "/v",
	};
	expect(childEnvironment(secrets, { ...own, ...out }, {})).toEqual(own);
	expect(
		childEnvironment(secrets, { ...own, ...out }, { GH_TOKEN: "k6", LANG: undefined }, { pass: ["AWS_*", "VIRTUAL_ENV"], withhold: ["SSH_AUTH_SOCK"] }),
	).toEqual({
		...Object.fromEntries(Object.entries(own).filter(([name]) => name !== "LANG" && name !== "SSH_AUTH_SOCK")),
		AWS_ACCESS_KEY_ID: "k3",
		AWS_SECRET_ACCESS_KEY: "k4",
		AWS_SESSION_TOKEN: "k5",
		VIRTUAL_ENV: "/v",
		GH_TOKEN: "k6",
	});
	expect(secrets.redact("said p4ssw0rd and pr0xypass")).toBe("said …******* and …********");
});
