// Programs for the tests that this machine's Debian does not have, from its newest suite: unpacked into a cache, never installed.
// The machine's own sources say which mirror and which keys; its configuration is left alone.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const SUITE = "sid";
/** Needed to install a package, not to run what is in it. */
const NOT_NEEDED = /^(debconf|openssl|ca-certificates|containernetworking-plugins|init-system-helpers|libssl3)/;

export const cacheDir = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "holdfast-tests");

/** Returns the directory, or undefined where it cannot be had: the tests that need it say so and are skipped. `program`: what has to be in it. */
export function ensureUnpacked(name, program, packages) {
	const dir = path.join(cacheDir, name);
	if (fs.existsSync(path.join(dir, program))) return dir;
	const source = process.getuid() === 0 && fs.existsSync("/usr/bin/apt-get") ? mirror() : undefined;
	if (source === undefined) {
		console.error(`not there: ${name} (needs root and Debian's apt-get); tests that need it are skipped`);
		return undefined;
	}
	console.error(`fetching ${name} from Debian ${SUITE} …`);
	fs.mkdirSync(cacheDir, { recursive: true, mode: 0o755 });
	const work = fs.mkdtempSync(path.join(cacheDir, "fetch-"));
	try {
		const made = unpack(work, source, packages);
		fs.rmSync(dir, { recursive: true, force: true });
		fs.renameSync(made, dir);
		return dir;
	} catch (error) {
		console.error(`that failed (${error.message}); tests that need it are skipped`);
		return undefined;
	} finally {
		fs.rmSync(work, { recursive: true, force: true });
	}
}

function unpack(work, source, packages) {
	const at = (...names) => path.join(work, ...names);
	for (const dir of ["lists/partial", "cache/archives/partial", "root/usr"]) fs.mkdirSync(at(dir), { recursive: true });
	fs.writeFileSync(at("sources"), `${source}\n`);
	const settings = {
		"Dir::Etc::SourceList": at("sources"),
		"Dir::Etc::SourceParts": "/dev/null",
		"Dir::State::Lists": at("lists"),
		"Dir::Cache": at("cache"),
		"Dir::State::status": "/dev/null",
		"Debug::NoLocking": "1", // nothing of the machine's is written
		"APT::Sandbox::User": "root",
	};
	const options = Object.entries(settings).flatMap(([key, value]) => ["-o", `${key}=${value}`]);
	run("apt-get", [...options, "update", "-qq"]);
	// With an empty list of what is installed, apt names all that they need.
	run("apt-get", [...options, "install", "-y", "-qq", "--no-install-recommends", "--download-only", ...packages]);
	const root = at("root");
	for (const dir of ["bin", "sbin", "lib", "lib64"]) {
		fs.mkdirSync(path.join(root, "usr", dir), { recursive: true });
		fs.symlinkSync(`usr/${dir}`, path.join(root, dir));
	}
	for (const file of fs.readdirSync(at("cache/archives")).filter((one) => one.endsWith(".deb") && !NOT_NEEDED.test(one)))
		run("dpkg-deb", ["-x", at("cache/archives", file), root]);
	return root;
}

function run(program, args) {
	const { status, stderr, error } = spawnSync(program, args, {
		encoding: "utf8",
		stdio: ["ignore", "ignore", "pipe"],
		env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
	});
	if (error) throw error;
	if (status !== 0) throw new Error(`${program}: ${stderr.trim().split("\n").at(-1)}`);
}

/** A line for sources.list: the first archive of Debian that this machine uses, with its keys. */
function mirror() {
	const files = ["/etc/apt/sources.list", ...namesIn("/etc/apt/sources.list.d").map((name) => `/etc/apt/sources.list.d/${name}`)];
	for (const file of files.filter((one) => /\.(list|sources)$/.test(one) && fs.existsSync(one))) {
		const text = fs.readFileSync(file, "utf8");
		if (file.endsWith(".list")) {
			const [, options = "", uri] = /^deb\s+(\[[^\]]*\]\s+)?(\S+\/debian\/?)\s+\S+\s.*\bmain\b/m.exec(text) ?? [];
			if (uri) return `deb ${options}${uri} ${SUITE} main`;
			continue;
		}
		for (const part of text.split(/\n\s*\n/)) {
			const field = (name) => new RegExp(`^${name}:\\s*(\\S+)`, "im").exec(part)?.[1];
			const uri = field("URIs");
			if (uri && /\/debian\/?$/.test(uri)) return `deb ${field("Signed-By") ? `[signed-by=${field("Signed-By")}] ` : ""}${uri} ${SUITE} main`;
		}
	}
	return undefined;
}

function namesIn(dir) {
	try {
		return fs.readdirSync(dir);
	} catch {
		return [];
	}
}
