/** Facts that the remote end of a link reports when it opens. */

export interface Facts {
	/** Our private remote directory, absolute. */
	readonly dir: string;
	/** Private to this link, and removed at its end. */
	readonly scratch: string;
	readonly home: string;
	/** Where streams start. */
	readonly cwd: string;
	readonly user: string;
	readonly uid: number;
	readonly hostname: string;
	/** The system's machine id, if any: distinguishes hosts of the same name. */
	readonly machineId: string | undefined;
	/** Undefined without /proc. */
	readonly bootId: string | undefined;
	readonly pidNamespace: string | undefined;
	/** False: no pids with start times, no signals, no knowledge of processes. */
	readonly proc: boolean;
	/** As uname(1) says: `Linux`, `x86_64`. */
	readonly system: string;
	readonly machine: string;
	/** The pid of the loop. */
	readonly pid: number;
	/** The remote clock minus the local one, in milliseconds, to about a second. */
	readonly skewMs: number;
	/** The umask of the login, for commands: our own scripts use 077, and the locale C. */
	readonly umask: string;
	readonly locale: string;
	/** The kind of sh(1). */
	readonly sh: "dash" | "busybox" | "bash" | "other";
	/** The machine's standard tools are those of busybox. */
	readonly busybox: boolean;
	/** The program that answers: perl (no polling), or the shell alone. */
	readonly helper: "perl" | "sh";
	/** Paths of programs by name; absent programs are missing. */
	readonly tools: ReadonlyMap<string, string>;
	/** fallocate(1) can reserve room after the end of a file; script(1) can log times. */
	readonly can: { readonly fallocate: boolean; readonly script: boolean };
	/** Notes for the user, a sentence each. */
	readonly notes: readonly string[];
}

export function parseFacts(lines: readonly string[], now = Date.now()): Facts {
	const all = (word: string) => lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
	const one = (word: string) => all(word)[0] || undefined;
	const number = (word: string, otherwise: number) => (/^\d+$/.test(one(word) ?? "") ? Number(one(word)) : otherwise);
	const sh = /\/(dash|busybox|bash)$/.exec(one("sh") ?? "")?.[1] as "dash" | "busybox" | "bash" | undefined;
	return {
		dir: one("dir") ?? "",
		scratch: one("scratch") ?? "",
		home: one("home") ?? "/",
		cwd: one("cwd") ?? "/",
		user: one("user") ?? "",
		uid: number("uid", -1),
		hostname: one("hostname") ?? "",
		machineId: one("machineId"),
		bootId: one("bootId"),
		pidNamespace: one("pidNamespace"),
		proc: one("sh") !== undefined,
		system: one("system") ?? "",
		machine: one("machine") ?? "",
		pid: number("pid", -1),
		skewMs: number("clock", Math.round(now / 1000)) * 1000 - Math.floor(now / 1000) * 1000,
		umask: one("umask") ?? "022",
		locale: one("locale") ?? "",
		sh: sh ?? "other",
		busybox: /busybox[^/]*$/.test(one("dd") ?? ""),
		helper: one("helper") === "perl" ? "perl" : "sh",
		tools: new Map(all("tool").map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)])),
		can: { fallocate: all("can").includes("fallocate"), script: all("can").includes("script") },
		notes: all("note"),
	};
}
