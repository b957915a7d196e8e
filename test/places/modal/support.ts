import type { Host } from "../../../src/places/host.js";
import type { HostHooks } from "../../../src/places/kind.js";
import { modalHost } from "../../../src/places/modal/host.js";
import type { ModalOptions } from "../../../src/places/modal/options.js";
import { tempDir } from "../../support/home.js";
import { type DoubleSandbox, type ModalDouble, modalDouble, useModal } from "../../support/modal-double.js";
import { rootfsOf } from "../../support/room.js";

export interface TestSandbox {
	readonly double: ModalDouble;
	readonly host: Host;
	readonly owner: { readonly home: string; readonly task: string };
	readonly options: ModalOptions;
	/** Another program's view of the same. */
	again(hooks?: HostHooks, more?: Partial<ModalOptions>): Host;
	/** Those that have not ended. */
	living(): DoubleSandbox[];
}

/** A sandbox of a double of its own. */
export async function testSandbox(more: Partial<ModalOptions> = {}, files: "full" | "busybox" = "busybox"): Promise<TestSandbox> {
	const double = await modalDouble({ "tools:1": await rootfsOf(files) });
	useModal(double);
	const owner = { home: tempDir("home"), task: "t" };
	const options: ModalOptions = { image: "tools:1", ...more };
	const again = (own?: HostHooks, other: Partial<ModalOptions> = {}) => modalHost({ ...options, ...other }, owner, own);
	return { double, host: again(), owner, options, again, living: () => [...double.sandboxes.values()].filter(({ result }) => result === undefined) };
}
