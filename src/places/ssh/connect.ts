/** Provides a connection for all programs to share: finds the existing one, or logs in. */
import { HoldfastError } from "../../base/index.js";
import { endGroup } from "../child.js";
import { clientArguments, runClient, type SshProgram } from "./client.js";
import { diagnose } from "./diagnose.js";
import { askMaster, retire, socketIdentity } from "./socket.js";

const ANSWER_MS = 3_000;
const LOGIN_MS = 20_000;
const LOOK_MS = 100;

/** `doubted`: the socket of a connection that a stream has broken on. It is not to be used again. */
export async function connect(client: SshProgram, doubted: string | undefined, signal?: AbortSignal): Promise<void> {
	retire(client.socket, doubted);
	const before = socketIdentity(client.socket);
	const answer = before === undefined ? "gone" : await askMaster(client.socket, ANSWER_MS);
	if (answer === "alive") return;
	if (answer === "stuck") retire(client.socket, before);
	await logIn(client, signal);
}

/**
 * `ssh -N` puts the connection into the background and ends. If another program's connection came first, it would stay instead, without
 * any use: then it is ended here as soon as that other one answers.
 */
async function logIn(client: SshProgram, signal?: AbortSignal): Promise<void> {
	if (signal?.aborted) throw aborted(client);
	const { child, said, exit } = await runClient([...clientArguments(client), "-N", "--", client.settings.host], client.env);
	child.stdin.end();
	child.stdout.resume();
	let why: "late" | "aborted" | "other" | undefined;
	const end = (reason: NonNullable<typeof why>) => {
		why ??= reason;
		// Alone if another's connection is up: that one may be ours after all, and have its jump host in this group.
		if (reason === "other") child.kill("SIGTERM");
		else endGroup(child.pid);
	};
	const abort = () => end("aborted");
	signal?.addEventListener("abort", abort, { once: true });
	const seconds = client.settings.connectTimeout + LOGIN_MS / 1_000;
	const late = setTimeout(end, seconds * 1_000, "late");
	let over = false;
	const look = async (): Promise<void> => {
		if (socketIdentity(client.socket) !== undefined && (await askMaster(client.socket, ANSWER_MS)) === "alive") return over ? undefined : end("other");
		if (!over) timer = setTimeout(look, LOOK_MS);
	};
	let timer = setTimeout(look, LOOK_MS);
	const { code } = await exit;
	over = true;
	for (const pending of [timer, late]) clearTimeout(pending);
	signal?.removeEventListener("abort", abort);
	if (why === "aborted") throw aborted(client);
	if (code === 0 || why === "other") return;
	if (why === "late")
		throw new HoldfastError(
			"UNREACHABLE",
			`cannot reach ${client.name}: logging in took longer than ${seconds} s; a key may wait to be touched, or a jump host not answer: see whether \`ssh ${client.login}\` works by hand, or raise connectTimeout`,
		);
	throw await diagnose(client, said(), signal);
}

export const aborted = ({ name }: SshProgram): HoldfastError => new HoldfastError("ABORTED", `connecting to ${name} was given up`);
