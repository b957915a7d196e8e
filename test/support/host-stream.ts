/** Commands on the streams of a host, as a test uses them: to their end, or with bytes both ways. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { expect } from "vitest";
import type { Host } from "../../src/places/host.js";

/** Runs a command to its end. */
export async function say(host: Host, command: string): Promise<{ readonly output: string; readonly ended: string }> {
	const { output, ended } = await exchange(host, command, "");
	return { output: output.toString(), ended };
}

/** A megabyte of any bytes comes back as it was sent, once the input is closed, and the exit code after it. */
export async function expectWholeBytes(host: Host): Promise<void> {
	const bytes = randomBytes(1_000_000);
	const { output, ended } = await exchange(host, "cat; exit 37", bytes);
	expect(ended).toContain("exit code 37");
	expect(output.equals(bytes)).toBe(true);
}

/** What a command has daemonised outlives its stream. */
export async function expectDaemonStays(host: Host): Promise<void> {
	const { output } = await say(host, "setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!");
	expect((await say(host, `kill -0 ${Number(output)} && echo alive; kill ${Number(output)}`)).output).toBe("alive\n");
}

async function exchange(host: Host, command: string, input: string | Buffer): Promise<{ readonly output: Buffer; readonly ended: string }> {
	const stream = await host.open(command);
	const parts: Buffer[] = [];
	stream.output.on("data", (part: Buffer) => parts.push(part));
	const closed = once(stream.output, "close");
	stream.input.end(input);
	const ended = await stream.ended;
	await closed;
	return { output: Buffer.concat(parts), ended };
}
