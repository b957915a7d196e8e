/** Files that come with the code: scripts, the page, the grammar. */
import { fileURLToPath } from "node:url";

/**
 * Returns the path of a file by its name below the folder of all rooms (`keeper/keeper.sh`).
 * That folder is the parent of the one this module is in: `src`, `dist`, and for the bundles in `dist/bin` and `dist/lib` also `dist`.
 */
export const asset = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
