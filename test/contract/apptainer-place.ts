/** A real instance of Apptainer as the place of the cases, made by an ordinary user. The directory of a case is a volume, so that it is at the same path there as here. */
import fs from "node:fs";
import path from "node:path";
import { readProc } from "../../src/base/proc.js";
import { noApptainer, sharedApptainer, type TestApptainer, useApptainer } from "../support/apptainer.js";
import { tempDir, testRoot } from "../support/home.js";
import { outside } from "./pids.js";
import { type ContractPlace, configured } from "./places.js";

let apptainer: TestApptainer;
let shared = "";
let scratch = "";

export const inApptainer: ContractPlace = {
	name: "apptainer",
	missing: noApptainer,
	start: async () => {
		apptainer = await sharedApptainer();
		useApptainer(apptainer);
		scratch = tempDir("scratch");
	},
	boxed: true,
	open: async (options) => {
		if (!fs.existsSync(shared)) shared = tempDir("shared");
		return configured(() => ({
			type: "apptainer",
			image: apptainer.full,
			network: false,
			scratch,
			volumes: [`${shared}:${shared}`],
			environment: { TEST_ROOT: testRoot() },
		}))(options);
	},
	dir: () => fs.mkdtempSync(path.join(shared, "work-")),
	server: { port: 8765, command: "exec busybox httpd -f -p 127.0.0.1:8765 -h /home" },
	cwd: () => apptainer.home,
	listed: /^apptainer:\/\/\/.*\/full\.sif$/,
	pids: { here: (pid) => outside(pid, (host) => readProc(`/proc/${host}/environ`)?.includes(`TEST_ROOT=${testRoot()}`) ?? false), told: "there" },
	cannot: {
		"a long history is not stuck in a pager": "the image of the tests has no git",
		"vim: draw, type, write, leave": "the image of the tests has no vim",
	},
};
