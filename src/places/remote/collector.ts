import fs from "node:fs";
import { readRemoteState, readState } from "../../keeper/index.js";
import type { Collector } from "../machine.js";
import { isDrained } from "../sight.js";

/** The log of a foreground command of a remote machine, as it was last seen. */
export const remoteCollector = (dir: string): Collector => ({
	drained: () => isDrained(dir),
	isOver: () => readState(dir).kind === "closed" || readRemoteState(dir)?.lost !== undefined || !fs.existsSync(dir),
	serves: () => true,
	collects: () => true,
	close() {},
});
