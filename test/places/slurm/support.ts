import type { Host } from "../../../src/places/host.js";
import type { HostHooks } from "../../../src/places/kind.js";
import { machineName } from "../../../src/places/owner.js";
import { slurmHost } from "../../../src/places/slurm/host.js";
import type { SlurmOptions } from "../../../src/places/slurm/options.js";
import { atEnd, tempDir, testRoot } from "../../support/home.js";
import { sharedSlurm, type TestSlurm, useSlurm } from "../../support/slurm.js";

export interface TestJob {
	readonly host: Host;
	readonly cluster: TestSlurm;
	readonly owner: { readonly home: string; readonly task: string };
	readonly name: string;
	readonly options: SlurmOptions;
	/** Another program's view of the same. */
	again(hooks?: HostHooks, more?: Partial<SlurmOptions>): Host;
	/** Of the jobs of that name: number and state. */
	jobs(): string[];
}

/** One that is cancelled when the test is over. */
export async function testJob(more: Partial<SlurmOptions> = {}, { hooks, cluster: own }: { hooks?: HostHooks; cluster?: TestSlurm } = {}): Promise<TestJob> {
	const cluster = own ?? (await sharedSlurm());
	useSlurm(cluster);
	const owner = { home: tempDir("home"), task: "t" };
	const options: SlurmOptions = { partition: "main", memory: "50M", scratch: tempDir("node"), environment: { TEST_ROOT: testRoot() }, ...more };
	const again = (given?: HostHooks, other: Partial<SlurmOptions> = {}) => slurmHost({ ...options, ...other }, owner, given);
	const name = machineName(owner);
	const jobs = () => cluster.run("squeue", "-h", "-n", name, "-t", "PD,R,CF,S", "-o", "%i %T").split("\n").filter(Boolean);
	atEnd(() => again().stop());
	return { host: again(hooks), cluster, owner, name, options, again, jobs };
}
