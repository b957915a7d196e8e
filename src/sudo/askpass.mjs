// sudo runs this program to get a password. It listens on an abstract socket, tells the runtimes of this home its name, and passes on to
// sudo the password that the runtime of its task sends. No other process can listen on that name, and /proc shows which process does, so
// the password reaches only this process.
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";

const PATIENCE_MS = 60_000;
const dir = process.argv[2];
const name = `holdfast-askpass-${process.pid}-${randomBytes(16).toString("hex")}`;

setTimeout(() => process.exit(1), PATIENCE_MS).unref();
const server = net.createServer((socket) => {
	let text = "";
	socket.setEncoding("utf8");
	socket.on("error", () => {});
	socket.on("data", (more) => {
		text += more;
	});
	socket.on("end", () => {
		// Other users can connect here too; they cannot know the name.
		if (text.startsWith(`${name}\n`)) process.stdout.write(text.slice(name.length + 1), () => process.exit(0));
	});
});
server.on("error", () => process.exit(1));
server.listen(`\0${name}`, async () => {
	for (const file of fs.readdirSync(dir)) if (file.endsWith(".sock") && (await ask(path.join(dir, file)))) return;
	process.exit(1);
});

/** True: it sends, or has sent, the password. */
function ask(file) {
	return new Promise((resolve) => {
		const socket = net.connect(file, () => socket.write(`${process.pid} ${name}\n`));
		let answer = "";
		socket.setEncoding("utf8");
		socket.on("data", (text) => {
			answer += text;
		});
		socket.on("error", (error) => {
			if (error.code === "ECONNREFUSED") fs.rmSync(file, { force: true }); // its runtime was killed
			resolve(false);
		});
		socket.on("close", () => resolve(answer === "given\n"));
	});
}
