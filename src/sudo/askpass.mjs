// What sudo runs when it wants a password. It listens, tells the runtimes of this home where, and passes on to sudo what the one whose
// task this is sends there. A name like this ("abstract") belongs to the process that has taken it: no other process can listen on it,
// and who holds it is to be seen in /proc. So the password reaches this process and no other.
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
