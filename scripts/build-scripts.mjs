// A script that is started as one file, and sent to remote machines as one, is one text. Its source has one idea a file.
import fs from "node:fs";
import path from "node:path";
import { root } from "./setup.mjs";

/** By the file they make: the folder of its parts is `script` beside it. In this order: functions are defined before the last part runs one. */
const SCRIPTS = {
	"keeper/keeper.sh": ["records", "limits", "timer", "end", "members", "run", "slot", "exec", "terminal", "collect", "runs", "disk", "times", "main"],
	"places/link/link.sh": ["start", "place", "replies", "parked", "beside", "box", "lock", "loop"],
	"places/link/link.pl": ["start", "replies", "files", "events", "parked", "questions", "lines", "scripts", "stdin", "loop"],
};

/** Joins the parts, beside the sources for what runs from them, and in `dist`. */
export function buildScripts() {
	for (const [file, parts] of Object.entries(SCRIPTS)) {
		const dir = path.join(root, "src", path.dirname(file), "script");
		const ext = path.extname(file);
		const unlisted = fs.readdirSync(dir).filter((name) => name.endsWith(ext) && !parts.includes(path.basename(name, ext)));
		if (unlisted.length > 0) throw new Error(`scripts/build-scripts.mjs does not list ${unlisted.join(", ")} of ${file}`);
		const text = parts.map((name) => fs.readFileSync(path.join(dir, `${name}${ext}`), "utf8")).join("");
		for (const below of ["src", "dist"]) put(path.join(root, below, file), text);
	}
}

/** A program that is just being started reads the old file or the new one, never half of each. */
function put(file, text) {
	if (fs.existsSync(file) && fs.readFileSync(file, "utf8") === text) return;
	fs.mkdirSync(path.dirname(file), { recursive: true });
	fs.writeFileSync(`${file}.${process.pid}`, text);
	fs.renameSync(`${file}.${process.pid}`, file);
}
