/** A real job of Slurm, on this machine as its only node. */

import { tempDir, testRoot } from "../support/home.js";
import { noSlurm, sharedSlurm, useSlurm } from "../support/slurm.js";
import { type ContractPlace, configured } from "./places.js";

let home = "";

export const inSlurm: ContractPlace = {
	name: "slurm",
	missing: noSlurm,
	start: async () => {
		useSlurm(await sharedSlurm());
		home = tempDir("there");
	},
	boxed: true,
	ends: true,
	open: (options) =>
		configured(() => ({ type: "slurm", partition: "main", scratch: home, memory: "50M", environment: { TEST_ROOT: testRoot(), HOME: home } }))(options),
	cwd: () => home,
	listed: /^slurm:\/\/main$/,
};
