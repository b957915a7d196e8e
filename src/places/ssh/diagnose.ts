/** After a failure: what ssh has not said by itself. Local, or one more attempt; never more than a few seconds. */
import fs from "node:fs";
import type { HoldfastError } from "../../base/index.js";
import { endGroup } from "../child.js";
import { clientArguments, runClient, type SshProgram } from "./client.js";
import { explain } from "./explain.js";
import { localPath } from "./options.js";

const LOOK_MS = 5_000;

/** `said` is what the failed one has said. */
export async function diagnose(client: SshProgram, said: string, signal?: AbortSignal): Promise<HoldfastError> {
	const settings = await output(client, ["-G"], LOOK_MS, signal);
	const proxied = /^proxy(jump|command) (?!none$)/m.test(settings);
	// With a shared connection what a jump host says goes nowhere: once more without, to hear it.
	const heard = proxied && /closed|reset|timed out/.test(said) ? await output(client, ["exit"], client.settings.connectTimeout * 1_000 + LOOK_MS, signal) : "";
	// The keys that ssh would use, as far as they have a passphrase.
	const locked = [...settings.matchAll(/^identityfile (.*)$/gm)].map(([, file]) => localPath(file as string)).filter(isLocked);
	return explain(`${heard}\n${said}`, { ...client, proxied, locked });
}

/** Returns the stdout and stderr of ssh; nothing when it takes too long. */
async function output(client: SshProgram, words: readonly string[], ms: number, signal?: AbortSignal): Promise<string> {
	const args = clientArguments(client, "alone");
	const { host } = client.settings;
	const { child, said, exit } = await runClient(words[0] === "-G" ? [...args, "-G", "--", host] : [...args, "--", host, ...words], client.env);
	let text = "";
	child.stdout.on("data", (bytes: Buffer) => {
		if (text.length < 65_536) text += bytes.toString("utf8");
	});
	child.stdin.end();
	const end = () => endGroup(child.pid);
	const late = setTimeout(end, ms);
	signal?.addEventListener("abort", end, { once: true });
	await exit;
	clearTimeout(late);
	signal?.removeEventListener("abort", end);
	return `${said()}\n${text}`;
}

/** The format says which cipher a key is locked with. */
export function isLocked(file: string): boolean {
	try {
		const text = fs.readFileSync(file, "latin1").slice(0, 16_384);
		if (/ENCRYPTED/.test(text.slice(0, 200))) return true;
		const body = /BEGIN OPENSSH PRIVATE KEY-+\s+([A-Za-z0-9+/=\s]+)/.exec(text)?.[1];
		if (body === undefined) return false;
		const bytes = Buffer.from(body, "base64");
		const at = "openssh-key-v1\0".length;
		return bytes.toString("latin1", at + 4, at + 4 + bytes.readUInt32BE(at)) !== "none";
	} catch {
		return false; // not there, or not a key: then that is not why
	}
}
