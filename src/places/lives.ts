/** `places/KEY.life` in the home: the life of a container that was last used, so that the next user, in any program, learns of a new one. */
import path from "node:path";
import { ensureDir, type Home, readIfThere, unlinkIfThere, writeWhole } from "../base/index.js";

type Root = Pick<Home, "root">;

/** Instead of a life: it was ended on purpose, because it was unused for so many seconds. */
export const IDLE = "idle";

export function rememberLife(home: Root, key: string, life: string): void {
	const file = fileOf(home, key);
	if (readIfThere(file) === life) return;
	ensureDir(path.dirname(file));
	writeWhole(file, life);
}

export const lastLife = (home: Root, key: string): string | undefined => readIfThere(fileOf(home, key));

/** Forgets the life: the next one starts without a note. */
export const forgetLife = (home: Root, key: string): void => unlinkIfThere(fileOf(home, key));

const fileOf = (home: Root, key: string): string => path.join(home.root, "places", `${key}.life`);
