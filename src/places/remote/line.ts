/** The line to a remote shell: lines are delivered over the link, and the shell's state is the last one seen. */
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errno, readStart } from "../../base/index.js";
import { isDead, RECORD_BYTES, readRemoteState } from "../../keeper/index.js";
import type { LineOf, Once, ShellLine } from "../line.js";
import type { RemoteMachine } from "./machine.js";

const WORD_MS = 1_000; // the command has ended, so the confirmation of its delivery is on its way, unless the link broke

export class RemoteLine implements ShellLine {
	readonly takesText = false;
	readonly #machine: RemoteMachine;
	readonly #of: LineOf;
	readonly #changed: () => void;
	readonly #unfollow: () => void;
	#delivery: Promise<string | undefined> = Promise.resolve(undefined);
	failed: Error | undefined;
	/** The life of its machine in which it was found alive. */
	readonly #life: string;

	constructor(machine: RemoteMachine, of: LineOf, changed: () => void) {
		this.#life = machine.life;
		this.#of = of;
		this.#machine = machine;
		this.#changed = changed;
		this.#unfollow = machine.mirrors.follow(of.id, { shell: of.bash });
	}

	/** Sends the command; if it does not arrive, `failed` says so. */
	write(text: string, once: Once): boolean {
		if (this.#machine.life !== this.#life) return false; // its machine has been restarted since
		this.failed = undefined;
		this.#delivery = this.#machine.commands.tell(this.#of.id, text, { ...once, placed: once.placed(), bash: this.#of.bash }).catch((error: Error) => {
			this.failed = error;
			this.#changed();
			return undefined;
		});
		return true;
	}

	isUnderWay(name: string): boolean {
		return this.begun().trimEnd().split(" ", 1)[0] !== name;
	}

	delivery(): Promise<unknown> {
		return this.#delivery;
	}

	moved(): Promise<string | undefined> {
		return Promise.race([this.#delivery, sleep(WORD_MS, undefined, { ref: false })]);
	}

	async isThere(): Promise<boolean> {
		const [found] = await this.#machine.kernel.inodes([this.#machine.files.path(this.#of.id, "in")]);
		return found !== undefined;
	}

	begun(): string {
		try {
			return readStart(path.join(this.#of.dir, "shell", "begun"), RECORD_BYTES);
		} catch (error) {
			if (errno(error) === "ENOENT") return "";
			throw error;
		}
	}

	children(): number[] {
		return [...(this.#seen()?.children ?? [])];
	}

	reaped(): string {
		return this.#seen()?.reaped ?? "";
	}

	isIdle(): boolean {
		return this.#seen()?.idle ?? false;
	}

	#seen() {
		return this.#machine.mirrors.lastSeen(this.#of.bash.pid);
	}

	lives(): boolean {
		const there = readRemoteState(this.#of.dir);
		return there?.lost === undefined && !isDead(there, this.#of.bash);
	}

	isLost(): boolean {
		return readRemoteState(this.#of.dir)?.lost !== undefined;
	}

	/** Trusts what the shell reports. */
	directory(said: string): string {
		return path.isAbsolute(said) ? said : "/";
	}

	/** Found when the line is delivered: `moved`. */
	refuge(): undefined {
		return undefined;
	}

	existing(dir: string): string {
		return dir;
	}

	isSame(one: string, other: string): boolean {
		return one === other;
	}

	close(): void {
		this.#unfollow();
	}
}
