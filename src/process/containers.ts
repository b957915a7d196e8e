/** A task's container, as something that lives while it is used: for `Lifetimes`. */
import type { RemoteWish } from "../places/address.js";
import { hostOf } from "../places/hosts.js";
import type { Lived } from "../places/lifetimes.js";
import type { Runtime } from "./runtime.js";

const LIFETIME = 300; // seconds, as in docker/options.ts: the switch inside has the same

export function containerOf(runtime: Runtime, wish: Extract<RemoteWish, { kind: "docker" }>, task: string): Lived {
	const key = runtime.placeKey(task);
	const running = () => runtime.registry.running(task).filter(({ spec }) => spec.box === key && spec.kind === undefined);
	return {
		key,
		seconds: wish.options.lifetime ?? LIFETIME,
		// A shell that waits for the next command does not count.
		busy: async () => {
			await Promise.all(running().map((process) => process.sync())); // it may have ended since anybody has looked
			return running().length > 0;
		},
		stop: async () => (await hostOf(wish, { task }, runtime.home)).stop(),
	};
}
