/** What a short command costs beside a Node that does nothing, and how much an installation takes. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { byTurns, median, timed } from "./lib.mjs";
import { atMost, row } from "./report.mjs";

const project = fileURLToPath(new URL("..", import.meta.url));
const CLI = path.join(project, "dist/bin/holdfast.js");
const QUICK_MS = 60;
const TERMINAL_MS = 150;
const MOST_MB = 25;
const MOST_PACKAGES = 20;
const run = promisify(execFile);

export default async function cli(bench) {
	return [...(await times(bench)), ...(await size(bench))];
}

/** From the start of the program to its end. */
async function times(bench) {
	bench.leaveProfilesOut();
	const runtime = await bench.runtime("cli");
	const env = { ...process.env, HOLDFAST_HOME: runtime.home.root };
	const ended = await runtime.spawn({ command: "seq 100" });
	await ended.wait();
	const node = (...args) => timed(() => once(spawn(process.execPath, args, { env, stdio: "ignore" }), "exit"));
	const commands = [
		["help", QUICK_MS],
		["ps", QUICK_MS],
		[`logs ${ended.id}`, QUICK_MS],
		["terminal -- true", TERMINAL_MS],
	];
	const contestants = [
		{ name: "node", time: () => node("-e", "0"), block: 2 },
		...commands.map(([words]) => ({ name: words, time: () => node(CLI, ...words.split(" ")), block: 2 })),
	];
	await byTurns(1, contestants); // the files are in memory then, and the task has its shell
	const found = await byTurns(bench.count(20, 4), contestants);
	const bare = median(found.node);
	return commands.map(([words, target]) =>
		row({
			what: `\`holdfast ${words.replace(/proc_\w+/, "ID")}\`, beyond \`node -e 0\``,
			value: median(found[words]) - bare,
			unit: "ms",
			baselines: [{ name: "node -e 0", value: bare }],
			target: atMost(target, "ms"),
		}),
	);
}

/** The packed package with the packages that it needs, as an install lays them out: taken from this project, so that no registry is asked. */
async function size(bench) {
	const dir = bench.dir("cli-install");
	const modules = path.join(dir, "node_modules");
	await run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", dir], { cwd: project });
	const tarball = path.join(
		dir,
		fs.readdirSync(dir).find((name) => name.endsWith(".tgz")),
	);
	fs.mkdirSync(path.join(modules, "holdfast"), { recursive: true });
	await run("tar", ["-xzf", tarball, "-C", path.join(modules, "holdfast"), "--strip-components=1"]);
	const names = needed();
	for (const name of names) fs.cpSync(path.join(project, "node_modules", name), path.join(modules, name), { recursive: true, dereference: true });
	const { stdout } = await run("du", ["-sk", modules]);
	return [
		row({ what: "installed, as du counts", value: Number.parseInt(stdout, 10) / 1024, unit: "MB", target: atMost(MOST_MB, "MB") }),
		row({ what: "packages in it", value: names.length + 1, unit: "packages", target: atMost(MOST_PACKAGES, "packages") }),
	];
}

/** The names of all packages that an install without development brings. */
function needed() {
	const { packages } = JSON.parse(fs.readFileSync(path.join(project, "package-lock.json"), "utf8"));
	const names = new Set();
	const add = ({ dependencies = {} }) => {
		for (const name of Object.keys(dependencies)) {
			if (names.has(name)) continue;
			names.add(name);
			add(packages[`node_modules/${name}`]);
		}
	};
	add(packages[""]);
	return [...names];
}
