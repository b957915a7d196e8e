/** An instance of MorphCloud as the place of the cases: a double of the service, with a real sshd, whose instances are rooms of this machine. */
import fs from "node:fs";
import path from "node:path";
import { readProc } from "../../src/base/proc.js";
import { tempDir, testRoot } from "../support/home.js";
import { morphDouble, noMorph } from "../support/morph-double.js";
import { rootfsOf } from "../support/room.js";
import { outside } from "./pids.js";
import { type ContractPlace, configured } from "./places.js";

let shared = "";

export const inMorph: ContractPlace = {
	name: "morph, double",
	missing: noMorph,
	start: async () => {
		shared = tempDir("shared");
		await morphDouble({ snapshot_1: await rootfsOf("full") }, [shared]);
	},
	boxed: true,
	open: configured(() => ({ type: "morph", snapshot: "snapshot_1", environment: { TEST_ROOT: testRoot() } })),
	dir: () => fs.mkdtempSync(path.join(shared, "work-")),
	server: { port: 8765, command: "exec busybox httpd -f -p 127.0.0.1:8765 -h /home" },
	cwd: () => "/root",
	listed: /^morph:\/\/snapshot_1$/,
	pids: { here: (pid) => outside(pid, (host) => readProc(`/proc/${host}/environ`)?.includes(`TEST_ROOT=${testRoot()}`) ?? false), told: "there" },
	cannot: {
		"a long history is not stuck in a pager": "the image of the tests has no git",
		"vim: draw, type, write, leave": "the image of the tests has no vim",
	},
};
