/** `${V}` and `${V:-default}` in the variables of a task: variables of this machine. */
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Returns which of this machine's variables a text needs that are not set. */
export const missingVariables = (text: string): string[] =>
	[...text.matchAll(VARIABLE)].flatMap(([, name = "", otherwise]) => (otherwise === undefined && process.env[name] === undefined ? [name] : []));

/** With the values of this machine. As in a shell, an empty one counts as none where there is a default. */
export const expandVariables = (env: Readonly<Record<string, string>>): Record<string, string> =>
	Object.fromEntries(
		Object.entries(env).map(([key, value]) => [
			key,
			value.replace(VARIABLE, (_, name: string, otherwise: string | undefined) =>
				otherwise === undefined ? (process.env[name] ?? "") : process.env[name] || otherwise,
			),
		]),
	);
