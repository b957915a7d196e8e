// Prints how many of the attacks in test/policy pass unasked, and how many of the everyday commands are asked about. test/policy says which may.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { root } from "./setup.mjs";

const { decide, loadParser } = await import("../dist/policy/index.js");
await loadParser();

const base = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-rates-"));
const home = path.join(base, "home", "dev");
const cwd = path.join(home, "project");
for (const name of ["project/.git", "project/src", "Documents", "other-project/src"]) fs.mkdirSync(path.join(home, name), { recursive: true });
for (const name of ["notes.txt", "accounts.kdbx", "Documents/x", "other-project/src/main.c"]) fs.writeFileSync(path.join(home, name), "x\n");

const isAsked = (command) => decide(command.replaceAll("/home/dev", home), { cwd, env: { HOME: home } }).decision !== "allow";
const commandsOf = (file) =>
	fs
		.readFileSync(file, "utf8")
		.replace(/^(?:#! .*\n)+/, "")
		.replace(/\n$/, "")
		.split("\n---\n");
const filesOf = (folder) => fs.readdirSync(path.join(root, "test", "policy", folder)).map((name) => path.join(root, "test", "policy", folder, name));
const say = (what, count, all) => console.log(`policy: ${what}: ${count} of ${all} (${((100 * count) / all).toFixed(2)} %)`);

try {
	const attacks = filesOf("attacks").flatMap(commandsOf);
	say("attacks that pass unasked", attacks.filter((command) => !isAsked(command)).length, attacks.length);
	for (const file of filesOf("everyday")) {
		const commands = commandsOf(file);
		say(`everyday commands asked about (${path.basename(file, ".txt")})`, commands.filter(isAsked).length, commands.length);
	}
} finally {
	fs.rmSync(base, { recursive: true });
}
