// A room imports only from rooms above it in this list; so the folders can be read from top to bottom.
// A folder with an index.ts is entered through it: what it exports is the surface of the room, and the rest is private.
import fs from "node:fs";
import path from "node:path";
import { root } from "./setup.mjs";

const ROOMS = [
	"base",
	"audit",
	"keeper",
	"places",
	"process",
	"shell",
	"screen",
	"recording",
	"transcript",
	"policy",
	"sudo",
	"approvals",
	"notices",
	"tools",
	"events",
	"push",
	"api",
	"doors",
];

/** The rooms of workspaces, in the same order. */
const WORKSPACES = {
	agent: [
		"base",
		"model",
		"talk",
		"tools",
		"turn",
		"chat",
		"gateway",
		"page",
		"setup",
		"once",
		"tasks",
		"episode",
		"environments",
		"run",
		"report",
		"view",
		"export",
		"fleet",
		"cli",
	],
	browser: ["base", "net", "extract", "search", "web", "chrome", "drive", "live", "doors"],
};

/** Entered beside the index.ts of their rooms: what is wanted before the rest is loaded. */
const SIDE_DOORS = {
	"places/apptainer/kind.ts": "its line in the table of kinds",
	"places/apptainer/options.ts": "the settings of a container in a job of Slurm",
	"places/apptainer/fetch.ts": "how its image is fetched",
	"places/slurm/kind.ts": "its line in the table of kinds",
	"places/kubernetes/kind.ts": "its line in the table of kinds",
	"places/modal/kind.ts": "its line in the table of kinds",
	"places/morph/kind.ts": "its line in the table of kinds",
	"places/docker/kind.ts": "its line in the table of kinds; the client is loaded with the first container",
	"places/ssh/kind.ts": "its line in the table of kinds",
};
/** The same, but only by `import()`: a command of the CLI that needs this file and not the rest of its room. */
const LAZY_DOORS = {
	"places/kinds.ts": "the kinds of places in `holdfast help COMMAND`",
	"screen/waiting.ts": "what a program waits for, in lists that render no screen",
	"tools/check.ts": "`holdfast policy`, which runs no tool",
};

/** What no room but `places` asks: which kind of place it has, or on which side of a link. places/traits.ts and `Machine` have what depends on it. */
const KIND_ASKED = /\bis(?:Remote|Far)\b|\brunsOf\b|\btypeof (?:\w+\.)?runs\b|\.box [!=]==|\bmachine\.key [!=]==|\bwish\.kind [!=]==/;

/** Names that two files of a package export because they are two forms of one thing: the public interface beside its class, or what goes over the wire. */
const TWO_FORMS = {
	src: {
		"the interface of the library": [
			"Process",
			"Runtime",
			"RuntimeOptions",
			"ListOptions",
			"Diagnosis",
			"Tool",
			"DoorOptions",
			"ServerOptions",
			"SiteOptions",
			"StdioOptions",
		],
		"what the HTTP API sends": ["Approval", "Choice", "EndedTask", "FileEntry", "Notice"],
	},
	agent: { "what the page is sent": ["BusyMode", "ConversationState", "ResultHow"] },
	web: {},
};

const src = path.join(root, "src");
const roomOf = (file) => path.relative(src, file).split(path.sep)[0];
const problems = [];

for (const file of walk(src)) {
	const room = roomOf(file);
	if (room === "index.ts") continue; // the front of the house looks into every room
	if (!ROOMS.includes(room)) problems.push(`${path.relative(root, file)}: there is no room "${room}"; add it to scripts/rooms.mjs, in its place`);
	if (room !== "places") {
		const asked = KIND_ASKED.exec(fs.readFileSync(file, "utf8"));
		if (asked)
			problems.push(`${path.relative(root, file)}: "${asked[0]}" asks which kind of place it is; ask places/traits.ts or the Machine for what you need`);
	}
	for (const { target, lazily } of importsIn(file)) {
		if (!target.startsWith(".")) continue;
		const wanted = path.resolve(path.dirname(file), target).replace(/\.js$/, ".ts");
		const index = indexBetween(file, wanted);
		if (index && !mayEnter(wanted, lazily)) problems.push(`${path.relative(root, file)}: import from ${index}, not past it from ${path.relative(src, wanted)}`);
		const other = roomOf(wanted);
		if (ROOMS.indexOf(other) > ROOMS.indexOf(room) || other === "index.ts")
			problems.push(`${path.relative(root, file)}: ${room} must not import from ${other}`);
	}
}
for (const room of ROOMS) if (room !== "doors" && !hasIndex(path.join(src, room))) problems.push(`src/${room}: a room needs an index.ts`);
for (const door of [...Object.keys(SIDE_DOORS), ...Object.keys(LAZY_DOORS)])
	if (!fs.existsSync(path.join(src, door))) problems.push(`scripts/rooms.mjs: there is no ${door} any more`);

// A workspace stands on the public API: Node's own modules, packages, files of its own, and the core by its name. Its rooms are in order too.
const own = Object.keys(JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")).exports).map((name) => name.replace(/^\./, "holdfast"));
for (const [workspace, rooms] of Object.entries(WORKSPACES)) {
	const inside = path.join(root, workspace);
	const inner = path.join(inside, "src");
	for (const file of [...walk(inner), ...walk(path.join(inside, "test"))]) {
		const at = path.relative(root, file);
		const room = file.startsWith(`${inner}/`) ? path.relative(inner, file).split(path.sep)[0] : undefined;
		if (room && room !== "index.ts" && !rooms.includes(room)) problems.push(`${at}: there is no room "${room}"; add it to scripts/rooms.mjs, in its place`);
		for (const { target } of importsIn(file)) {
			const wanted = path.resolve(path.dirname(file), target).replace(/\.js$/, ".ts");
			const leaves = target.startsWith(".") && path.relative(inside, wanted).startsWith("..");
			const unknown = /^holdfast(\/|$)/.test(target) && !own.includes(target);
			if (leaves || unknown) problems.push(`${at}: ${workspace} may import ${own.join(", ")} and files of its own, not ${target}`);
			if (!room || room === "index.ts" || !target.startsWith(".")) continue;
			const other = path.relative(inner, wanted).split(path.sep)[0];
			if (other === room) continue;
			if (rooms.indexOf(other) > rooms.indexOf(room)) problems.push(`${at}: ${room} must not import from ${other}`);
			if (path.basename(wanted) !== "index.ts") problems.push(`${at}: import from ${other}/index.ts, not past it from ${path.relative(inner, wanted)}`);
		}
	}
}
// One type name, one meaning. Packages apart: nobody imports from two of them without seeing it.
for (const [name, forms] of Object.entries(TWO_FORMS)) {
	const declared = new Map();
	for (const file of walk(name === "src" ? src : path.join(root, name, "src")))
		for (const [, type] of fs.readFileSync(file, "utf8").matchAll(/^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm))
			declared.set(type, [...(declared.get(type) ?? []), path.relative(root, file)]);
	const known = new Set(Object.values(forms).flat());
	for (const [type, files] of declared)
		if (files.length > 1 && !known.has(type)) problems.push(`${files.join(", ")}: each exports a type ${type}; rename all but one`);
	for (const type of known) if ((declared.get(type)?.length ?? 0) < 2) problems.push(`scripts/rooms.mjs: ${type} is exported once by now; take it out`);
}
if (problems.length > 0) {
	console.error(problems.join("\n"));
	process.exit(1);
}

function importsIn(file) {
	const found = fs.readFileSync(file, "utf8").matchAll(/(?:from|import)\s*(\(?)"([^"]+)"/g);
	return [...found].map(([, bracket, target]) => ({ target, lazily: bracket === "(" }));
}

/** The innermost index.ts that an import passes by: that of a folder which has the target in it, and not the importer. */
function indexBetween(file, target) {
	for (let dir = path.dirname(target); dir !== src; dir = path.dirname(dir)) {
		if (file.startsWith(`${dir}/`)) return undefined;
		if (hasIndex(dir)) return path.basename(target) === "index.ts" ? undefined : path.relative(src, path.join(dir, "index.ts"));
	}
	return undefined;
}

function mayEnter(target, lazily) {
	const name = path.relative(src, target);
	return name in SIDE_DOORS || (lazily && name in LAZY_DOORS);
}

function hasIndex(dir) {
	return fs.existsSync(path.join(dir, "index.ts"));
}

function* walk(dir) {
	for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
		const file = path.join(dir, entry.name);
		if (entry.isDirectory()) yield* walk(file);
		else if (/\.tsx?$/.test(entry.name)) yield file;
	}
}
