/** A real ngircd, and a person with a client of a few lines. */
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { until } from "../../../support/dirs.js";
import { Daemon, freePort, serverDir } from "./daemon.js";

export const NGIRCD = { ngircd: "/usr/sbin/ngircd" };

export async function startNgircd(): Promise<{ port: number; password(now: string): void; close(): Promise<void> }> {
	const [dir, port] = [serverDir("ngircd"), await freePort()];
	const file = path.join(dir, "ngircd.conf");
	const write = (password: string): void => {
		const lines = ["[Global]", "Name = irc.localhost.test", "Info = test", "Listen = 127.0.0.1", `Ports = ${port}`, `Password = ${password}`];
		const limits = ["[Limits]", "MaxConnectionsIP = 0", "MaxPenaltyTime = 0", "MaxNickLength = 20", "PingTimeout = 120"];
		fs.writeFileSync(file, [...lines, ...limits, "[Options]", "DNS = no", "Ident = no", "PAM = no", ""].join("\n"));
	};
	write("secret");
	const daemon = new Daemon(["/usr/sbin/ngircd", "-n", "-f", file], dir);
	await daemon.listens(port);
	return {
		port,
		password: (now) => {
			write(now);
			daemon.signal("SIGHUP");
		},
		close: async () => {
			await daemon.end();
			fs.rmSync(dir, { recursive: true });
		},
	};
}

export class IrcPerson {
	readonly lines: string[] = [];
	readonly #socket: net.Socket;
	#buffer = "";

	constructor(port: number, nick: string, password: string) {
		this.#socket = net.connect(port, "127.0.0.1");
		this.#socket.setEncoding("utf8").on("error", () => undefined);
		this.#socket.on("data", (chunk) => this.#read(String(chunk)));
		this.#socket.write(`PASS ${password}\r\nNICK ${nick}\r\nUSER ${nick} 0 * :${nick}\r\n`);
	}

	async ready(): Promise<this> {
		await until("welcome", () => this.lines.some((line) => / (?:001|ERROR) /.test(line)));
		return this;
	}

	write(line: string): void {
		this.#socket.write(`${line}\r\n`);
	}

	close(): void {
		this.#socket.destroy();
	}

	#read(chunk: string): void {
		this.#buffer += chunk;
		const lines = this.#buffer.split("\r\n");
		this.#buffer = lines.pop() ?? "";
		for (const line of lines) {
			if (line.startsWith("PING")) this.write(line.replace("PING", "PONG"));
			this.lines.push(line);
		}
	}
}
