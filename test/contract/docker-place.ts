/** A container as the place of the cases. The directory of a case is a volume, so that it is at the same path there as here. */
import fs from "node:fs";
import path from "node:path";
import { readProc } from "../../src/base/proc.js";
import { BUSYBOX_IMAGE, FULL_IMAGE, noEngine, sharedEngine, type TestEngine } from "../support/dockerd.js";
import { tempDir, testRoot } from "../support/home.js";
import { outside } from "./pids.js";
import { type ContractPlace, configured } from "./places.js";

const LEFT_OUT = {
	"a long history is not stuck in a pager": "the image of the tests has no git",
	"vim: draw, type, write, leave": "the image of the tests has no vim",
};

function dockerPlace(image: string, more: Pick<ContractPlace, "name" | "cannot">): ContractPlace {
	let engine: TestEngine;
	let shared = "";
	return {
		...more,
		missing: noEngine(),
		start: async () => {
			engine = await sharedEngine();
		},
		boxed: true,
		open: async (options) => {
			if (!fs.existsSync(shared)) shared = tempDir("shared");
			const entry = { type: "docker", image, engine: engine.address, volumes: [`${shared}:${shared}`], environment: { TEST_ROOT: testRoot() } };
			return configured(() => entry)(options);
		},
		dir: () => fs.mkdtempSync(path.join(shared, "work-")),
		server: { port: 8765, command: "exec busybox httpd -f -p 127.0.0.1:8765 -h /home" },
		cwd: () => "/root",
		listed: new RegExp(`^docker://${image}$`),
		pids: { here: (pid) => outside(pid, (host) => readProc(`/proc/${host}/environ`)?.includes(`TEST_ROOT=${testRoot()}`) ?? false), told: "there" },
	};
}

export const inDocker = dockerPlace(FULL_IMAGE, { name: "docker", cannot: LEFT_OUT });

const NO_BASH = "a box with busybox alone has no bash, and so no persistent shell";
const NO_PTY = "a box with busybox alone cannot make a terminal";

export const inBusybox = dockerPlace(BUSYBOX_IMAGE, {
	name: "docker, busybox only",
	cannot: {
		"foreground commands": NO_BASH,
		"the shell keeps its state": NO_BASH,
		"programs on a terminal": NO_PTY,
		"with a notice asked for there is no such remark": `${NO_BASH}, which the first result says`,
		"it has the directory and the environment of the shell, not its plain variables": NO_BASH,
		"an unknown parameter is ignored and named, whatever added it": NO_BASH,
		"what Gemini CLI adds to every call is ignored without a word": NO_BASH,
		"null is the same as not given, 0 is not": NO_BASH,
		"parameters of a terminal without one are not used, and that is said": NO_BASH,
		"a task may be called anything": NO_BASH,
	},
});
