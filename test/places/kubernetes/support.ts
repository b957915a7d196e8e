import type { Host } from "../../../src/places/host.js";
import type { HostHooks } from "../../../src/places/kind.js";
import { kubernetesHost } from "../../../src/places/kubernetes/host.js";
import type { KubernetesOptions } from "../../../src/places/kubernetes/options.js";
import { machineName } from "../../../src/places/owner.js";
import { tempDir } from "../../support/home.js";
import { type KubernetesDouble, kubernetesDouble, useKubectl } from "../../support/kubernetes-double.js";
import { rootfsOf } from "../../support/room.js";

export interface TestPod {
	readonly double: KubernetesDouble;
	readonly host: Host;
	readonly owner: { readonly home: string; readonly task: string };
	readonly name: string;
	readonly options: KubernetesOptions;
	again(hooks?: HostHooks, more?: Partial<KubernetesOptions>): Host;
}

export async function testPod(more: Partial<KubernetesOptions> = {}, hooks?: HostHooks, files: "busybox" | "full" = "busybox"): Promise<TestPod> {
	useKubectl();
	const double = await kubernetesDouble({ "tools:1": await rootfsOf(files) });
	const owner = { home: tempDir("home"), task: "t" };
	const options: KubernetesOptions = { image: "tools:1", namespace: double.namespace, kubeconfig: double.kubeconfig, ...more };
	const again = (own?: HostHooks, other: Partial<KubernetesOptions> = {}) => kubernetesHost({ ...options, ...other }, owner, own);
	return { double, host: again(hooks), owner, name: machineName(owner), options, again };
}
