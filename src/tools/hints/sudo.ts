/**
 * Returns a hint about sudo without a terminal: called by its path, or with options for its password source, sudo bypasses our wrapper and reports
 * that it finds no terminal.
 */
export function sudoHint(output: string, remote: boolean): string | undefined {
	if (!/^sudo: a (?:terminal|password) is required/m.test(output) || output.includes("sudo: no password was provided")) return undefined;
	if (remote)
		return "sudo wanted a password, and none is ever sent to another machine. Do without sudo, or ask the person: who may use it there without a password (NOPASSWD in sudoers), or logs in there as root, is not asked for one; with pty=true a person can type it at the terminal.";
	return "sudo wanted a password and had none. Call it as `sudo`, without a path and without -S or -n: then it gets one if the person allows that; if it still has none, do without sudo, or ask the person.";
}
