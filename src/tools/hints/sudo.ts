/** sudo by its path, or with options that say where its password comes from, is none of ours: it finds no terminal, and says so. */
export function sudoHint(output: string): string | undefined {
	if (!/^sudo: a (?:terminal|password) is required/m.test(output) || output.includes("sudo: no password was provided")) return undefined;
	return "sudo wanted a password and had none. Call it as `sudo`, without a path and without -S or -n: then it gets one if the person allows that; if it still has none, do without sudo, or ask the person.";
}
