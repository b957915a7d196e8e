// Run by a user without rights of his own: a program that asks its person, whose answer is on stdin. Prints what came of it as JSON.
import fs from "node:fs";
import path from "node:path";
import { openRuntime } from "../../dist/lib/index.js";

const inside = process.argv[2];
const runtime = await openRuntime({ home: path.resolve("state"), warm: 0, task: "a" });
if (inside) {
	let code;
	try {
		runtime.sudo.attend(async () => null);
	} catch (error) {
		code = error.code;
	}
	console.log(code);
} else {
	const password = fs.readFileSync(0, "utf8").trim();
	const asked = [];
	const stop = runtime.sudo.attend(async ({ task }) => {
		asked.push(task);
		return password;
	});
	const given = (await runtime.terminal({ command: "sudo -k; sudo id -un" })).output;
	stop();
	const { output: afterwards } = await runtime.terminal({ command: "sudo -k; sudo id -un; echo ended $?" }, { task: "b" });
	const own = [process.execPath, process.argv[1], "inside"];
	const { output: code } = await runtime.terminal({ command: own.map((word) => `'${word}'`).join(" ") });
	for (const one of runtime.list({ task: null, shells: true })) await one.kill({ graceMs: 0 });
	console.log(JSON.stringify({ asked, given, afterwards, inside: code.trim() }));
}
await runtime.close();
