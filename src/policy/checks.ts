/** Questions of rules that words, flags and paths of a command do not answer: `"is": "deletes-outside"`. */
import { captures } from "./capture.js";
import { dangerousCode, destroysData } from "./code.js";
import { touchesCredentials } from "./credentials.js";
import { deletesEverythingHere, deletesOutside, wipesRoot } from "./deleting.js";
import { changesDisks, fillsDisk, wipesDisk } from "./disks.js";
import type { FoundCommand } from "./found.js";
import { changesKernel, changesMounts, changesNetwork } from "./machine.js";
import { answersApproval, editsPolicy, killsHoldfast, typesIntoShell } from "./ourselves.js";
import { massKill } from "./processes.js";
import type { World } from "./scope.js";
import { isShellSetup, runsRemoteCode } from "./setup.js";
import { changesJobs, changesStartup } from "./startup.js";
import { changesSystemPermissions, writesSystemFiles } from "./system.js";
import { changesServices, forcePushes, publishes, rewritesHistory, shutsDown, takesDown } from "./tasks.js";
import { changesRemotely, uploads } from "./web.js";

export type CheckName = keyof typeof CHECKS;

export const CHECKS = {
	"wipes-root": wipesRoot,
	"wipes-disk": wipesDisk,
	"fork-bomb": (command: FoundCommand) =>
		command.trait === "fork-bomb" ||
		(command.code !== null && /\bfork\b[\s\S]*\bfork\b|while\s*(?:\(?\s*(?:1|True|true)\s*\)?\s*:?)[\s\S]{0,20}fork/.test(command.code)),
	"kills-holdfast": killsHoldfast,
	"types-into-shell": (command: FoundCommand) => typesIntoShell(command),
	"answers-approval": answersApproval,
	"edits-policy": editsPolicy,
	"deletes-outside": deletesOutside,
	"deletes-everything-here": deletesEverythingHere,
	"changes-system-permissions": changesSystemPermissions,
	"writes-system-files": writesSystemFiles,
	"runs-remote-code": runsRemoteCode,
	"destroys-data": (command: FoundCommand) => destroysData(command),
	"reads-credentials": touchesCredentials,
	"changes-startup": changesStartup,
	uploads,
	"mass-kill": massKill,
	"dangerous-code": (command: FoundCommand) => command.code !== null && dangerousCode(command),
	"changes-crontab": changesJobs,
	"changes-services": changesServices,
	"changes-network": changesNetwork,
	"changes-kernel": changesKernel,
	"changes-mounts": changesMounts,
	"changes-disks": changesDisks,
	"fills-disk": fillsDisk,
	captures,
	"force-pushes": forcePushes,
	"rewrites-history": rewritesHistory,
	publishes,
	"shuts-down": shutsDown,
	"takes-down": (command: FoundCommand) => takesDown(command) || changesRemotely(command),
	"unknown-program": (command: FoundCommand) => command.trait === "unknown-program",
	"unknown-script": (command: FoundCommand) => command.trait === "unknown-script" && !isShellSetup(command),
	unreadable: (command: FoundCommand) => command.trait === "unreadable",
} satisfies Record<string, (command: FoundCommand, world: World) => boolean>;
