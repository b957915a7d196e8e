/** Opens a conversation as a chat does, or only parses its lines, and prints how long that took, by the clock and of the CPU, in ms. log|lines HOME ID */
import fs from "node:fs";
import { conversationFile, openAgentHome } from "../agent/dist/base/index.js";
import { Log } from "../agent/dist/talk/index.js";

const [how, root, id] = process.argv.slice(2);
const home = openAgentHome(root);
const [begun, used] = [performance.now(), process.cpuUsage()];
if (how === "log") {
	const log = await Log.open(home, id, { what: "bench" });
	await log.leave();
} else for (const line of fs.readFileSync(conversationFile(home, id), "utf8").trimEnd().split("\n")) JSON.parse(line);
const { user, system } = process.cpuUsage(used);
console.log(JSON.stringify({ wall: performance.now() - begun, cpu: (user + system) / 1_000 }));
