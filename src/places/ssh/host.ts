/**
 * A machine reached over SSH, with the system's own client: the person's configuration, agents, jump hosts and known hosts count.
 * One connection in the background carries the streams of every program with the same home and settings. No program ends it: it goes
 * when no stream has used it for a minute. When it has no room for another stream (sshd's MaxSessions) ssh makes one more by itself.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { defaultHome, HoldfastError, shellQuote } from "../../base/index.js";
import { childStream } from "../child.js";
import type { Host, Stream } from "../host.js";
import { formatSshAddress } from "./address.js";
import { clientArguments, clientEnvironment, runClient, type SshProgram } from "./client.js";
import { aborted, connect } from "./connect.js";
import { explain } from "./explain.js";
import { type SshOptions, type SshSettings, sshSettings } from "./options.js";
import { socketFile, socketIdentity } from "./socket.js";

const IDLE_SECONDS = 60;
const HOME_MS = 15_000;
const INSTEAD = "the server may run something else in its place (ForceCommand, command= in authorized_keys, or a login shell such as nologin)";

export interface Near {
	/** Programs with the same home share a connection. */
	readonly home?: string;
	/** The environment of the ssh client, before secrets are removed. */
	readonly env?: NodeJS.ProcessEnv;
	/** How long an idle connection stays open. */
	readonly idleSeconds?: number;
}

export function sshHost(options: SshOptions, near: Near = {}): Host {
	const settings = sshSettings(options);
	const { dir } = settings;
	let made: SshProgram | undefined;
	const needed = (): SshProgram => {
		made ??= clientOf(settings, near);
		return made;
	};
	const streams = new Set<Stream>();
	let doubted: string | undefined;
	let cwd = dir?.startsWith("/") ? dir : undefined;

	const open = async (command: string, signal?: AbortSignal): Promise<Stream> => {
		const client = needed();
		if (signal?.aborted) throw aborted(client);
		const through = socketIdentity(client.socket);
		const running = await runClient([...clientArguments(client), "--", settings.host, command], client.env);
		const doubt = () => {
			doubted = through ?? socketIdentity(client.socket);
		};
		const stream = childStream(running, {
			why: ({ code, signal }, said) => {
				if (signal !== null) return `the ssh client was ended by ${signal}`;
				if (code !== 255) return endedThere(code, said);
				doubt();
				return explain(said, client).message;
			},
			// Killed without a message: the caller that asks for another start has found it silent.
			onClose: (politely) => politely || doubt(),
			whyClosed: ({ stdout }) => ((stdout as Socket).bytesRead > 0 ? "" : ` before anything had come back: ${INSTEAD}, or be very slow`),
		});
		void stream.ended.then(() => streams.delete(stream));
		streams.add(stream);
		if (signal?.aborted) {
			stream.close();
			throw aborted(client);
		}
		return stream;
	};

	return {
		address: formatSshAddress(settings),
		start: async (signal) => {
			const client = needed();
			const bad = doubted;
			doubted = undefined;
			await connect(client, bad, signal);
			if (dir?.startsWith("~/")) cwd ??= await homeThere(open, dir.slice(2), client, signal);
			return { notes: [], ...(cwd === undefined ? {} : { cwd }) };
		},
		open,
		// The connection is not ours alone, and ends by itself.
		stop: async () => {
			const own = [...streams];
			for (const stream of own) {
				stream.hold?.(true); // an idle link keeps no program alive, and this one waits for its end
				stream.close();
			}
			doubted = undefined; // that was no sign of anything
			await Promise.all(own.map(({ ended }) => ended));
			return [];
		},
	};
}

/** Not before it is needed: it makes the directory for the socket. */
function clientOf(settings: SshSettings, { home = defaultHome(), env, idleSeconds = IDLE_SECONDS }: Near): SshProgram {
	const { dir: _, ...machine } = settings;
	return {
		settings,
		name: formatSshAddress(machine),
		login: loginWords(settings),
		socket: socketFile(settings, home, env),
		env: clientEnvironment(env),
		idleSeconds,
	};
}

function loginWords({ configFile, identityFile, port, user, host }: SshSettings): string {
	const flags = { "-F": configFile, "-i": identityFile, "-p": port };
	const words = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
	return [...words, `${user === undefined ? "" : `${user}@`}${host}`].map((word) => (/^[\w@.:%+=,/~-]+$/.test(word) ? word : shellQuote(word))).join(" ");
}

function endedThere(code: number | null, said: string): string {
	const words = said.replace(/[\0-\x1f\x7f-\x9f]+/g, " ").trim();
	return `the command there ended with exit code ${code}${words ? ` and said "${words.slice(-300)}"` : ""}; if it does so at once, ${INSTEAD}: this login has to be allowed to run commands`;
}

/** Returns a directory of the remote home as an absolute path. Other output of the login is skipped. */
async function homeThere(open: Host["open"], below: string, client: SshProgram, signal?: AbortSignal): Promise<string> {
	const mark = randomBytes(8).toString("hex");
	const stream = await open(`exec sh -c ${shellQuote(`echo "${mark}" "<$HOME>"`)}`, signal);
	const late = setTimeout(() => stream.close(), HOME_MS);
	const abort = () => stream.close();
	signal?.addEventListener("abort", abort, { once: true });
	let text = "";
	stream.input.end();
	stream.output.on("data", (bytes: Buffer) => {
		text = (text + bytes.toString("utf8")).slice(-65_536);
	});
	const closed = new Promise((resolve) => stream.output.once("close", resolve));
	const why = await stream.ended;
	await closed;
	clearTimeout(late);
	signal?.removeEventListener("abort", abort);
	if (signal?.aborted) throw aborted(client);
	const found = new RegExp(`${mark} <(/.*)>`).exec(text)?.[1];
	if (found === undefined) throw new HoldfastError("UNREACHABLE", `${client.name} does not say where its home is: ${why}`);
	return `${found.replace(/\/$/, "")}/${below}`;
}
