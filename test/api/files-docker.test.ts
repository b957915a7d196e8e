import { FULL_IMAGE, noEngine, sharedEngine } from "../support/dockerd.js";
import { taskFilesSuite } from "./files-suite.js";

let engine = "";
taskFilesSuite({
	name: "docker",
	missing: noEngine(),
	start: async () => {
		engine = (await sharedEngine()).address;
	},
	entry: () => ({ type: "docker", image: FULL_IMAGE, engine }),
	tmp: () => "/root",
});
