/** Many small files to a remote end: as one archive if tar exists, else one after the other. */
import { createHash } from "node:crypto";
import path from "node:path";
import { type Files, type PutItem, stopIf, type TransferOptions } from "./interface.js";
import type { RemoteEnd, RunScript } from "./remote.js";
import * as scripts from "./scripts.js";
import { tarOf } from "./tar.js";
import { discarded, temporaryName } from "./temporary.js";

const withTar = new WeakMap<RemoteEnd, Promise<boolean>>();

export async function putAllRemote(
	end: RemoteEnd,
	ask: RunScript,
	files: Files,
	dir: string,
	items: readonly PutItem[],
	{ signal }: TransferOptions,
): Promise<void> {
	const has = withTar.get(end) ?? end.run(scripts.HAS_TAR, { again: true }).then(({ status }) => status === 0);
	withTar.set(end, has);
	has.catch(() => withTar.delete(end));
	if (items.length > 1 && (await has)) {
		const input = tarOf(items);
		const archive = temporaryName();
		const sha256 = createHash("sha256").update(input).digest("hex");
		await ask(scripts.UNPACK, [dir, `./${archive}`, sha256], dir, { input, ...(signal ? { signal } : {}) }).finally(() => discarded(archive));
		return;
	}
	for (const item of items) {
		stopIf(signal, dir);
		const file = path.posix.join(dir, item.name);
		if (item.kind === "directory") await files.mkdir(file, { mode: item.mode });
		else if (item.kind === "file") await files.write(file, item.content, { mode: item.mode, replaceLink: true });
		else {
			await files.mkdir(path.posix.dirname(file));
			await ask(scripts.LINK, [item.target, file], file);
		}
	}
}
