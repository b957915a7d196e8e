/** The host of a wish. What a kind of place needs is loaded with the first of its kind. */
import type { Home } from "../base/home.js";
import { lazy } from "../base/lazy.js";
import type { RemoteWish } from "./address.js";
import type { Host } from "./host.js";

const loadSsh = lazy(() => import("./ssh/index.js"));
export const loadDocker = lazy(() => import("./docker/index.js"));

/** `last`: see DockerHooks. */
export async function hostOf(
	wish: RemoteWish,
	owner: { readonly task: string },
	home: Pick<Home, "root">,
	hooks: { last?(): string | undefined } = {},
): Promise<Host> {
	if (wish.kind === "ssh") return (await loadSsh()).sshHost(wish.options, { home: home.root });
	return (await loadDocker()).dockerHost(wish.options, { home: home.root, task: owner.task }, hooks);
}
