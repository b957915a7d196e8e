/** Keeps the files that a task wants of the agent's place: in the episode's folder, and, for separate tests, at the same paths in the place of the tests. */
import fs from "node:fs";
import path from "node:path";
import { EpisodeError, quoted, type ToolContext } from "../../episode/index.js";
import type { HarborSettings } from "../../tasks/index.js";
import { must } from "./files.js";
import type { Layout } from "./where.js";

type Artifact = HarborSettings["artifacts"][number];

export interface KeptArtifact {
	readonly source: string;
	/** In the episode's folder. Undefined: it is not in the place, or is a link there. */
	readonly file?: string;
}

export async function keepArtifacts(cx: ToolContext, wanted: readonly Artifact[], { logs }: Layout): Promise<KeptArtifact[]> {
	const folder = path.join(cx.folder, "artifacts");
	fs.rmSync(folder, { recursive: true, force: true });
	fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
	const kept: KeptArtifact[] = [];
	const own: Artifact = { source: `${logs}/artifacts`, exclude: [], destination: "logs" };
	for (const [at, artifact] of [own, ...wanted].entries()) {
		const { source, exclude } = artifact;
		const name = path.basename(artifact.destination ?? source);
		const there = (await cx.run(`[ ! -L ${quoted(source)} ] && [ -e ${quoted(source)} ]`)).exit_code === 0; // a link of the agent's leads wherever it says
		if (!there) {
			kept.push({ source });
			continue;
		}
		const file = path.join(folder, String(at), name); // a folder each: nothing that came out of the place is on the way to another
		const { skipped } = await cx.download(source, file);
		if (skipped.length > 0) throw new EpisodeError("scorer", "artifacts", `${source} has what cannot be moved: ${skipped.slice(0, 3).join("; ")}`);
		for (const pattern of exclude) leaveOut(file, globOf(pattern));
		kept.push({ source, file: path.relative(cx.folder, file) });
	}
	fs.writeFileSync(path.join(folder, "manifest.json"), `${JSON.stringify(kept, null, "\t")}\n`, { mode: 0o600 });
	return kept;
}

/** Puts them where they came from, in another place. */
export async function putArtifacts(from: ToolContext, to: ToolContext, kept: readonly KeptArtifact[]): Promise<void> {
	for (const { source, file } of kept) {
		if (file === undefined) continue;
		await must(to, `rm -rf ${quoted(source)} && mkdir -p ${quoted(path.posix.dirname(source))}`, `making room for ${source}`);
		await to.upload(path.join(from.folder, file), source);
	}
}

function leaveOut(root: string, pattern: RegExp): void {
	const visit = (dir: string): void => {
		for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
			const file = path.join(dir, entry.name);
			if (pattern.test(path.relative(root, file)) || pattern.test(entry.name)) fs.rmSync(file, { recursive: true, force: true });
			else if (entry.isDirectory()) visit(file);
		}
	};
	if (fs.lstatSync(root).isDirectory()) visit(root);
}

/** `*` and `?` within a name, `**` across names. */
function globOf(pattern: string): RegExp {
	const text = pattern
		.replace(/[.+^${}()|[\]\\]/g, "\\$&")
		.replace(/\*\*\/?|\*|\?/g, (sign) => (sign.startsWith("**") ? ".*" : sign === "*" ? "[^/]*" : "[^/]"));
	return new RegExp(`^${text}$`);
}
