/** The one place where a child's environment comes from. */

// Provider keys, tokens and the like of whoever runs Holdfast; a command that needs one is given it by name.
const SECRET = /(^|_)(API_?KEYS?|ACCESS_KEY|SECRETS?|SECRET_KEY|TOKENS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|PRIVATE_KEY)(_|$)/i;
const OURS = /^HOLDFAST_/;
// Traces of the interpreter or package manager we were started by; they would send other projects astray.
const LEFTOVER = /^(VIRTUAL_ENV|CONDA_PREFIX|PYTHONHOME|NODE_OPTIONS|NODE_CHANNEL_FD|NODE_V8_COVERAGE|npm_.*|INIT_CWD|VITEST.*)$/;

/** `own` without secrets and leftovers, with `given` on top: what is named there is passed on, undefined removes. */
export function childEnvironment(own: NodeJS.ProcessEnv, given: Readonly<Record<string, string | undefined>>): Record<string, string> {
	const env: Record<string, string> = {};
	for (const [name, value] of Object.entries(own)) {
		if (value !== undefined && !SECRET.test(name) && !OURS.test(name) && !LEFTOVER.test(name)) env[name] = value;
	}
	for (const [name, value] of Object.entries(given)) {
		if (value === undefined) delete env[name];
		else env[name] = value;
	}
	return env;
}
