/** Rows for the official harness of SWE-bench: what the agent has changed in the repository, as a patch. Their judge reads them; ours does not replace it. */
import fs from "node:fs";
import path from "node:path";
import { errno } from "../base/index.js";
import type { ExportedEpisode } from "./episode.js";

/** The patch in the episode's folder, left by the environment of such an item. */
const PATCH = "model.patch";

/** Returns undefined for an item of another kind. An episode without a patch has an empty one: the harness counts it. */
export function predictionOf({ item, manifest, folder }: ExportedEpisode): unknown {
	if (item.kind !== "swe") return undefined;
	const name = manifest.agent === "model" ? manifest.model : manifest.agent;
	return { instance_id: item.row.instance_id, model_name_or_path: name, model_patch: textIn(path.join(folder, PATCH)) };
}

function textIn(file: string): string {
	try {
		return fs.readFileSync(file, "utf8");
	} catch (error) {
		if (errno(error) === "ENOENT") return "";
		throw error;
	}
}
