/** A sandbox of Modal as the place of the cases: the real library, and a double of the service whose sandboxes are rooms of this machine. */
import fs from "node:fs";
import path from "node:path";
import { readProc } from "../../src/base/proc.js";
import { tempDir, testRoot } from "../support/home.js";
import { modalDouble, noModal, useModal } from "../support/modal-double.js";
import { rootfsOf } from "../support/room.js";
import { outside } from "./pids.js";
import { type ContractPlace, configured } from "./places.js";

let shared = "";

export const inModal: ContractPlace = {
	name: "modal, double",
	missing: noModal,
	start: async () => {
		shared = tempDir("shared");
		useModal(await modalDouble({ "tools:1": await rootfsOf("full") }, [shared]));
	},
	boxed: true,
	ends: true,
	open: configured(() => ({ kind: "modal", image: "tools:1", environment: { TEST_ROOT: testRoot() } })),
	dir: () => fs.mkdtempSync(path.join(shared, "work-")),
	server: { port: 8765, command: "exec busybox httpd -f -p 127.0.0.1:8765 -h /home" },
	cwd: () => "/root",
	listed: /^modal:\/\/tools:1$/,
	pids: { here: (pid) => outside(pid, (host) => readProc(`/proc/${host}/environ`)?.includes(`TEST_ROOT=${testRoot()}`) ?? false), told: "there" },
	cannot: {
		"a long history is not stuck in a pager": "the image of the tests has no git",
		"vim: draw, type, write, leave": "the image of the tests has no vim",
	},
};
