/** Delivers a message to one target, in one try. Rejects with words for the person if it fails. */
import { spawn } from "node:child_process";
import path from "node:path";
import { configDir, type HoldfastError, type NotifyTarget, ownEnvironment, readPrivate, visible } from "../base/index.js";
import type { PushMessage } from "./message.js";

/** A failure that another try cannot change. */
export class Hopeless extends Error {}

export function deliver(target: NotifyTarget, message: PushMessage, signal: AbortSignal): Promise<void> {
	switch (target.kind) {
		case "webhook":
			return post(target, JSON.stringify(message), { "Content-Type": "application/json" }, signal);
		case "ntfy":
			return post(target, message.text, ntfyHeaders(message), signal);
		case "command":
			return run(target.command, message, signal);
	}
}

type WebTarget = Extract<NotifyTarget, { url: string }>;

/** A redirect is not followed: what it leads to was not chosen by the person. */
async function post({ url, tokenFile }: WebTarget, body: string, headers: Record<string, string>, signal: AbortSignal): Promise<void> {
	const token = tokenFile === undefined ? undefined : tokenIn(tokenFile);
	const response = await fetch(url, {
		method: "POST",
		body,
		headers: { ...headers, "User-Agent": "holdfast", ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) },
		redirect: "manual",
		signal,
	});
	await response.body?.cancel();
	const { status } = response;
	if (response.ok) return;
	const passes = status >= 500 || status === 408 || status === 425 || status === 429;
	const failure = `it answered ${status}${status >= 300 && status < 400 ? ", a redirect, which is not followed" : ""}`;
	throw passes ? new Error(failure) : new Hopeless(failure);
}

function tokenIn(file: string): string {
	try {
		return readPrivate(path.resolve(configDir(), file), "the token of a notify target").trim();
	} catch (error) {
		throw new Hopeless((error as HoldfastError).message, { cause: error });
	}
}

/** docs.ntfy.sh/publish: title, priority, tags, click and actions are headers, the message is the body. An action opens a page, which asks once more. */
function ntfyHeaders({ kind, title, url, answer }: PushMessage): Record<string, string> {
	return {
		Title: encodedWord(title),
		Tags: { question: "question", waiting: "hourglass", end: "checkered_flag" }[kind],
		Priority: kind === "question" ? "high" : "default",
		Click: url,
		...(answer ? { Actions: `view, Allow once, ${answer.once}, clear=true; view, Deny, ${answer.no}, clear=true` } : {}),
	};
}

/** A header is ASCII; ntfy reads RFC 2047 in it. */
const encodedWord = (text: string): string => (/^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString("base64")}?=`);

/** The message is on stdin; what fits into a line also in the environment. Nothing of it becomes an argument, and no shell is involved. */
function run([program = "", ...args]: readonly string[], message: PushMessage, signal: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		const env = { ...ownEnvironment(), HOLDFAST_NOTIFY_KIND: message.kind, HOLDFAST_NOTIFY_TITLE: message.title, HOLDFAST_NOTIFY_URL: message.url };
		const child = spawn(program, args, { stdio: ["pipe", "ignore", "pipe"], env, detached: true });
		const stop = () => {
			if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, "SIGKILL"); // what it has started, too
		};
		let said = "";
		child.stderr.setEncoding("utf8").on("data", (piece: string) => {
			said = (said + piece).slice(-300);
		});
		signal.addEventListener("abort", stop, { once: true });
		child.stdin.on("error", () => {}); // it need not read it
		child.stdin.end(`${JSON.stringify(message)}\n`);
		child.once("error", (error) => reject(new Hopeless(`${program} cannot be started: ${error.message}`)));
		child.once("exit", (code, killed) => {
			signal.removeEventListener("abort", stop);
			child.stderr.destroy(); // something that it has left may hold it open
			if (code === 0) resolve();
			else if (signal.aborted) reject(signal.reason);
			else
				reject(
					new Error(
						`${program} ${killed ? `was killed by ${killed}` : `exited with ${code}`}${said.trim() === "" ? "" : `: ${visible(said.trim().replaceAll(/\s+/g, " "))}`}`,
					),
				);
		});
	});
}
