/** A pod as the place of the cases: the real kubectl, and a double of the cluster whose pods are rooms of this machine. */
import fs from "node:fs";
import path from "node:path";
import { readProc } from "../../src/base/proc.js";
import { tempDir, testRoot } from "../support/home.js";
import { type KubernetesDouble, kubernetesDouble, noKubernetes, useKubectl } from "../support/kubernetes-double.js";
import { rootfsOf } from "../support/room.js";
import { outside } from "./pids.js";
import { type ContractPlace, configured } from "./places.js";

let double: KubernetesDouble;
let shared = "";

export const inKubernetes: ContractPlace = {
	name: "kubernetes, double",
	missing: noKubernetes(),
	start: async () => {
		useKubectl();
		shared = tempDir("shared");
		double = await kubernetesDouble({ "tools:1": await rootfsOf("full") }, [shared]);
	},
	boxed: true,
	ends: true,
	open: (options) =>
		configured(() => ({
			type: "kubernetes",
			namespace: double.namespace,
			kubeconfig: double.kubeconfig,
			image: "tools:1",
			environment: { TEST_ROOT: testRoot() },
		}))(options),
	dir: () => fs.mkdtempSync(path.join(shared, "work-")),
	server: { port: 8765, command: "exec busybox httpd -f -p 127.0.0.1:8765 -h /home" },
	cwd: () => "/root",
	listed: /^kubernetes:\/\/dev\/tools:1$/,
	pids: { here: (pid) => outside(pid, (host) => readProc(`/proc/${host}/environ`)?.includes(`TEST_ROOT=${testRoot()}`) ?? false), told: "there" },
	cannot: {
		"a long history is not stuck in a pager": "the image of the tests has no git",
		"vim: draw, type, write, leave": "the image of the tests has no vim",
	},
};
