/** The one place where a child's environment comes from. docs/secrets.md says what stays out of it and why. */
import type { Config } from "./config.js";
import { type Redactor, secretName } from "./secrets/index.js";

const OURS = /^HOLDFAST_/;
/** Traces of the interpreter or package manager we were started by; they would send other projects astray. */
const LEFTOVER =
	/^(VIRTUAL_ENV|VIRTUAL_ENV_PROMPT|CONDA_(PREFIX|DEFAULT_ENV|SHLVL|PROMPT_MODIFIER)|PYTHONHOME|NODE_OPTIONS|NODE_CHANNEL_FD|NODE_CHANNEL_SERIALIZATION_MODE|NODE_V8_COVERAGE|ELECTRON_RUN_AS_NODE|npm_.*|INIT_CWD|VITEST.*)$/;
/** Without it nothing reaches the network; the password in it is masked in texts all the same. */
const PROXY = /^(https?|ftp|all)_proxy$/i;

/** Returns `own` without secrets and leftovers, with `given` on top: what is named there is passed on, undefined removes. Secrets in `given` belong to `task`. */
export function childEnvironment(
	secrets: Redactor,
	own: NodeJS.ProcessEnv,
	given: Readonly<Record<string, string | undefined>>,
	rules: Config["environment"] = { pass: [], withhold: [] },
	task?: string,
): Record<string, string> {
	const env: Record<string, string> = {};
	const pass = matcher(rules.pass);
	const withhold = matcher(rules.withhold);
	for (const [name, value] of Object.entries(own)) {
		if (value === undefined || withhold(name)) continue;
		const secret = isSecret(secrets, name, value);
		if (pass(name) || !(secret || OURS.test(name) || LEFTOVER.test(name))) env[name] = value;
	}
	for (const [name, value] of Object.entries(given)) {
		if (value === undefined) delete env[name];
		else {
			isSecret(secrets, name, value, task);
			env[name] = value;
		}
	}
	return env;
}

/** Masks the secrets of this program's own environment wherever they appear. */
export function knowOwnSecrets(secrets: Redactor, own: NodeJS.ProcessEnv): void {
	for (const [name, value] of Object.entries(own)) if (value !== undefined) isSecret(secrets, name, value);
}

/** Whether it is a secret, by its name or by its look. If so it is known from here on, and masked wherever it appears. */
export function isSecret(secrets: Redactor, name: string, value: string, task?: string): boolean {
	const judged = judgedBy.get(secrets) ?? new Map<string, Judged & { readonly value: string }>();
	judgedBy.set(secrets, judged);
	const before = judged.get(name);
	const verdict = before?.value === value ? before : { value, ...judge(secrets, name, value) };
	if (verdict !== before && judged.size < MOST_JUDGED) judged.set(name, verdict);
	if (verdict.known !== undefined) secrets.know(verdict.known, { task });
	return verdict.secret;
}

interface Judged {
	readonly secret: boolean;
	/** The secret in it. */
	readonly known?: string;
}

/** Verdicts by the name of a variable: it is the same environment again and again. */
const judgedBy = new WeakMap<Redactor, Map<string, Judged & { readonly value: string }>>();
const MOST_JUDGED = 10_000;

function judge(secrets: Redactor, name: string, value: string): Judged {
	if (secretName(name) !== undefined && !/^\d{0,9}$/.test(value)) return { secret: true, known: value };
	if (value.length < 8 || secrets.withMasking(() => secrets.redact(value)) === value) return { secret: false };
	return { secret: !PROXY.test(name), known: /:\/\/[^:]*:(.+)@/.exec(value)?.[1] ?? value };
}

/** Names, or beginnings of them with a star: `AWS_*`. */
function matcher(patterns: readonly string[]): (name: string) => boolean {
	if (patterns.length === 0) return () => false;
	return (name) => patterns.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}
