import { execFileSync } from "node:child_process";
import path from "node:path";
import { apptainerHost } from "../../../src/places/apptainer/host.js";
import type { ApptainerOptions } from "../../../src/places/apptainer/options.js";
import type { Host } from "../../../src/places/host.js";
import type { HostHooks } from "../../../src/places/kind.js";
import { machineName } from "../../../src/places/owner.js";
import { sharedApptainer, type TestApptainer, useApptainer } from "../../support/apptainer.js";
import { atEnd, tempDir, testRoot } from "../../support/home.js";

export interface TestInstance {
	readonly host: Host;
	readonly owner: { readonly home: string; readonly task: string };
	readonly name: string;
	readonly scratch: string;
	readonly options: ApptainerOptions;
	/** Another program's view of the same. */
	again(hooks?: HostHooks, more?: Partial<ApptainerOptions>): Host;
	apptainer(...args: readonly string[]): string;
}

/** One that is ended when the test is over. */
export async function testInstance(more: Partial<ApptainerOptions> = {}, hooks?: HostHooks): Promise<TestInstance> {
	const real = await sharedApptainer();
	useApptainer(real);
	const scratch = more.scratch ?? tempDir("scratch");
	const owner = { home: tempDir("home"), task: "t" };
	const options: ApptainerOptions = { image: real.busybox, scratch, network: false, environment: { TEST_ROOT: testRoot() }, ...more };
	const again = (own?: HostHooks, other: Partial<ApptainerOptions> = {}) => apptainerHost({ ...options, ...other }, owner, own);
	const host = again(hooks);
	atEnd(() => again(undefined, { keep: false }).stop());
	return { host, owner, name: machineName(owner), scratch, options, again, apptainer: (...args) => run(real, ...args) };
}

export const run = ({ bin }: Pick<TestApptainer, "bin">, ...args: readonly string[]): string =>
	execFileSync(path.join(bin, "apptainer"), args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
