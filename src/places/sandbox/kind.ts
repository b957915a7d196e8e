/** A local sandbox, made with bubblewrap: one for each task. docs/sandbox.md. */
import os from "node:os";
import path from "node:path";
import { checked, HoldfastError, type SandboxOptions, type SandboxSettings, sandboxSchema } from "../../base/index.js";
import { exposesHost, isSocket } from "../exposure.js";
import { defineKind } from "../kind.js";
import { findSandboxTools, sandboxObstacle, versionOf } from "../probe.js";

const NAME = "local+sandbox";

export const sandbox = defineKind({
	name: "sandbox",
	forms: [NAME],
	schema: sandboxSchema,
	settings: (options: SandboxOptions) => {
		const result = checked(sandboxSchema, options);
		if ("problems" in result) throw new HoldfastError("INVALID", `sandbox: ${result.problems}`);
		return result.data;
	},
	defaults: (config) => config.sandbox,
	parse: (text): SandboxOptions | undefined => (text === NAME ? {} : undefined),
	show: () => NAME,
	directory: ({ directory }) => directory,
	identity: () => ({}),
	boundary: (settings: SandboxSettings) => ({ contains: !isOpen(settings), hides: true }),
	doctor: () => {
		const tools = findSandboxTools();
		const obstacle = "missing" in tools ? tools.missing : sandboxObstacle(tools);
		if (obstacle === undefined && !("missing" in tools)) return { name: "sandbox", state: "ok", found: `${NAME} can be used (${versionOf(tools)})` };
		return { name: "sandbox", state: "warn", found: `${NAME} cannot be used`, advice: obstacle ?? "" };
	},
	runs: "sandbox",
});

/** Returns whether the sandbox exposes this machine. A socket works even where its file is read-only; other read-only files do no harm. */
const isOpen = ({ read, write }: SandboxSettings): boolean =>
	write.map(expand).some((file) => exposesHost(file) || isSocket(file)) || read.map(expand).some(isSocket);

const expand = (file: string): string => (/^~(?=\/|$)/.test(file) ? path.join(os.homedir(), file.slice(1)) : file);
