/** Paths of this machine that were meant for another: a model, or a person's configuration, may carry them over. */
import os from "node:os";
import path from "node:path";

export interface Here {
	readonly home: string;
	readonly user: string;
	readonly cwd: string;
}

/** What it looks like, in words that finish "looks like …"; undefined for a path that may well be one of another machine. Only a look at the text. */
export function foreignPath(file: string, { home, user, cwd }: Here): string | undefined {
	if (/^[A-Za-z]:([\\/]|$)/.test(file) || file.startsWith("\\\\")) return "a path of Windows";
	const full = path.posix.normalize(file);
	if (/^\/mnt\/[a-z]\/Users(\/|$)/i.test(full)) return "a path of Windows";
	if (/^\/Users\/[^/]+/.test(full)) return "a home directory of macOS";
	if (isWithin(full, cwd)) return "the directory that Holdfast was started in, on another machine";
	if (isWithin(full, home) || (user !== "" && isWithin(full, `/home/${user}`))) return "a home directory of the machine that Holdfast was started on";
	return undefined;
}

/** `/` is everywhere, so that nothing is known of who says it. */
const isWithin = (file: string, dir: string): boolean => {
	const base = path.posix.normalize(dir).replace(/\/$/, "");
	return base !== "" && (file === base || file === `${base}/` || file.startsWith(`${base}/`));
};

/** The note for who gave a path that is not there. */
export const foreignNote = (file: string, looks: string, { place, used }: { place: string; used: string }): string =>
	`${file} looks like ${looks}; it does not exist on ${place}, so ${used} was used instead. Paths there are not those of this machine: \`pwd\` and \`ls\` say what there is.`;

export const here = (): Here => ({ home: os.homedir(), user: userName(), cwd: process.cwd() });

function userName(): string {
	try {
		return os.userInfo().username;
	} catch {
		return ""; // a user without an entry
	}
}

/**
 * Where a command goes that was to run in `asked`, on another machine. One of our own paths that is not there gives way to the default,
 * and a note says so; any other is taken as it is, there or not: whoever runs it says if it is missing.
 */
export async function directoryThere(
	asked: string | undefined,
	there: { readonly place: string; readonly cwd: string; exists(dir: string): Promise<boolean>; readonly here?: Here },
): Promise<{ readonly dir: string; readonly note?: string }> {
	if (asked === undefined) return { dir: there.cwd };
	const looks = foreignPath(asked, there.here ?? here());
	const dir = path.posix.resolve(there.cwd, asked); // never from a directory of this machine
	if (looks === undefined || (await there.exists(asked.startsWith("/") ? dir : asked))) return { dir };
	return { dir: there.cwd, note: foreignNote(asked, looks, { place: there.place, used: there.cwd }) };
}
