/** Which names say that what they stand for is a secret: of environment variables, of fields, of flags. */

/** Written as variables are: `apiKey`, `api-key` and `API_KEY` are one name. */
const asVariable = (name: string): string =>
	name
		.replace(/([a-z0-9])([A-Z])/g, "$1_$2")
		.replace(/[-.]/g, "_")
		.toUpperCase();

/** Secret without saying so. */
const NAMED = new Set([
	"AWS_ACCESS_KEY_ID",
	"AWS_CONTAINER_CREDENTIALS_FULL_URI",
	"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
	"AWS_WEB_IDENTITY_TOKEN_FILE",
	"CI_JOB_JWT",
	"DOCKER_AUTH_CONFIG",
	"GOOGLE_APPLICATION_CREDENTIALS",
	"KUBECONFIG_DATA",
	"KUBE_CONFIG_DATA",
	"MODAL_TOKEN_ID",
	"SSHPASS",
]);
/** All that a login of Modal is made of. */
const OAUTH = /^MODAL_OAUTH_/;
const SECRET = /PASSWORD|PASSWD|PASSPHRASE|API_?KEY|SECRET(?!AR)|(?:^|_)(?:PASS|CREDENTIALS?|CREDS)(?:_|$)|TOKEN(?:_|$)|_(?:PWD|AUTH|PAT|JWT|COOKIE)$/;
/** A key of whatever kind: for a variable that is enough, in other text it takes a value that looks like one. */
const KEY = /(?:ACCESS|PRIVATE|ENCRYPTION|SIGNING|MASTER|AUTH|ACCOUNT|STORAGE|SERVICE|SSH|_)_?KEYS?(?:_DATA)?$|TOKENS$/;
/** Something about a secret, not itself one; and other things that are called key or token. */
const HARMLESS =
	/_(?:FILE|PATH|DIR|DIRECTORY|HOME|URL|URI|ENDPOINT|HOST|PORT|ID|IDS|NAME|USER|TYPE|TTL|TIMEOUT|EXPIRES?|EXPIRY|EXPIRATION|LENGTH|SIZE|LIMIT|COUNT|BUDGET|ENABLED|DISABLED|LAYOUT|VERSION|ALG|ALGORITHM|FORMAT|PARALLELISM|SOCK|SOCKET|COMMAND|CMD|HELPER|PROMPT|ASKPASS|MODE|STORE|PROVIDER|MANAGER|REGION|POLICY|HINT|AGENT|ISSUER|AUDIENCE|HEADER|FIELD|COLUMN|LABEL|PREFIX|SUFFIX|FINGERPRINT|STDIN|REQUIRED)$|PUBLIC_?KEYS?$|^(?:MAX|MIN|NUM|TOTAL|USE|NO|IS|HAS|ENABLE|DISABLE)_|(?:^|_)(?:PRIMARY|FOREIGN|SORT|PARTITION|CACHE|HOT|INDEX|GPG|REGISTRY|GROUP|UNIQUE|MAX|TOTAL|PROMPT|COMPLETION|INPUT|OUTPUT|NUM)_(?:KEYS?|TOKENS)$/;

/** `strong`: whatever the value. `weak`: if the value looks like one. */
export function secretName(name: string): "strong" | "weak" | undefined {
	if (name.length > 200) return undefined;
	const variable = asVariable(name);
	if (NAMED.has(variable) || OAUTH.test(variable)) return "strong";
	if (HARMLESS.test(variable)) return undefined;
	if (SECRET.test(variable)) return "strong";
	return KEY.test(variable) ? "weak" : undefined;
}

const PLACEHOLDER =
	/^(?:\$|<|\{\{|%[sd({]|\[redacted|…|\*+$|#$|x{3}|your[-_ ]|(?:true|false|yes|no|on|off|null|nil|none|undefined|password|passwd|pass|pwd|secret|token|string|changeme|example)$)/i;

/** Stands for a secret, or for nothing: a variable, a place to fill in, an example, something masked before. */
export function isPlaceholder(value: string): boolean {
	return value === "" || PLACEHOLDER.test(value);
}

/** Names in source code: snake_case and kebab-case, camelCase, properties. */
const WORDS = /^_*[a-z]+(?:[_-](?:[a-z]+\d{0,3}|\d{1,3}))+$|^[A-Za-z]*[a-z][A-Z][A-Za-z]*\d{0,2}$|^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/;
const NOT_RANDOM = /^[~.]{0,2}\/|^[a-z]+:\/\/|^v?\d+(?:\.\d+)+|^0x[0-9a-f]+$|[()[\]{}<>;,$\s]|[^ -~]/i;

/** Not words, a number or a path, as far as can be told: letters and digits in one piece. */
export function looksRandom(value: string): boolean {
	if (/^[A-Za-z0-9+/]{40}$/.test(value)) return true; // a key of AWS, which may begin with a slash
	return value.length >= 6 && /\d/.test(value) && /[A-Za-z]/.test(value) && !WORDS.test(value) && !NOT_RANDOM.test(value);
}
