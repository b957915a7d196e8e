/** An instance of a double of MorphCloud, of its own for a test. */
import { expect } from "vitest";
import type { Host } from "../../../src/places/host.js";
import type { HostHooks } from "../../../src/places/kind.js";
import { morphHost } from "../../../src/places/morph/host.js";
import type { MorphOptions } from "../../../src/places/morph/options.js";
import { tempDir } from "../../support/home.js";
import { type MorphDouble, morphDouble } from "../../support/morph-double.js";
import { rootfsOf } from "../../support/room.js";

export interface TestInstance {
	readonly double: MorphDouble;
	readonly host: Host;
	readonly owner: { readonly home: string; readonly task: string };
	again(hooks?: HostHooks, more?: Partial<MorphOptions>): Host;
	/** The only one there is. */
	only(): { readonly id: string; readonly status: string; readonly ttl?: object };
}

export async function testInstance(more: Partial<MorphOptions> = {}, hooks?: HostHooks, files: "busybox" | "full" = "busybox"): Promise<TestInstance> {
	const double = await morphDouble({ snapshot_1: await rootfsOf(files) });
	const owner = { home: tempDir("home"), task: "t" };
	const again = (own?: HostHooks, other: Partial<MorphOptions> = {}) => morphHost({ snapshot: "snapshot_1", ...more, ...other }, owner, own);
	const only = () => {
		expect(double.instances.size).toBe(1);
		return [...double.instances.values()][0] as ReturnType<TestInstance["only"]>;
	};
	return { double, host: again(hooks), owner, again, only };
}
