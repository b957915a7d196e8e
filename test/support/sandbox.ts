import { findSandboxTools, sandboxObstacle } from "../../src/places/probe.js";

const tools = findSandboxTools();

/** Why there can be no sandbox here; undefined when there can. */
export const noSandbox: string | undefined = "missing" in tools ? tools.missing : sandboxObstacle(tools);
