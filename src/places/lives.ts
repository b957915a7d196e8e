/** `places/KEY.life` in the home: which life of a container was last used, so that whoever comes next, in whatever program, is told when it is another. */
import path from "node:path";
import { ensureDir, type Home, readIfThere, unlinkIfThere, writeWhole } from "../base/index.js";

type Root = Pick<Home, "root">;

/** In place of a life: it was ended on purpose, since nobody used it for so many seconds. */
export const IDLE = "idle";

export function rememberLife(home: Root, key: string, life: string): void {
	const file = fileOf(home, key);
	if (readIfThere(file) === life) return;
	ensureDir(path.dirname(file));
	writeWhole(file, life);
}

export const lastLife = (home: Root, key: string): string | undefined => readIfThere(fileOf(home, key));

/** The next one begins anew, and there is nothing to say of it. */
export const forgetLife = (home: Root, key: string): void => unlinkIfThere(fileOf(home, key));

const fileOf = (home: Root, key: string): string => path.join(home.root, "places", `${key}.life`);
