/** Conversations as a part of the page of `holdfast serve`. Until a browser asks for something nothing is loaded or opened. */
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import type { Runtime } from "holdfast";
import type { SitePart } from "holdfast/http";
import type { PageApi } from "./api.js";
import type { Desk } from "./desk.js";

export interface PartOptions {
	/** The core's home, whose terminals the page shows. */
	readonly home: string;
	/** In place of one that the part opens on that home. */
	readonly runtime?: Runtime;
	/** The agent's home; default: that of this program. */
	readonly agentHome?: string;
	/** Reports a problem that no browser waits to hear of. */
	readonly report?: (text: string) => void;
}

/** From src and from dist alike. */
const FILES = fileURLToPath(new URL("../../dist/web/", import.meta.url));

export function sitePart(options: PartOptions): SitePart {
	let opened: Promise<{ readonly api: PageApi; readonly desk: Desk }> | undefined;
	return {
		name: "agent",
		label: "Agent",
		icon: "M2.5 3h11v7.5H7l-3 2.8v-2.8H2.5zM5.3 6h5.4M5.3 8h3.4",
		files: FILES,
		get script() {
			return built("js");
		},
		get style() {
			return built("css");
		},
		async fetch(request, visit) {
			opened ??= open(options);
			const { api } = await opened;
			return api.fetch(request, visit);
		},
		async close() {
			const all = await opened;
			all?.api.close();
			await all?.desk.close();
		},
	};
}

async function open({ home, runtime, agentHome, report }: PartOptions): Promise<{ readonly api: PageApi; readonly desk: Desk }> {
	const [{ PageApi }, { Desk }, { openAgentHome }] = await Promise.all([import("./api.js"), import("./desk.js"), import("../base/index.js")]);
	const desk = new Desk({ home: openAgentHome(agentHome), coreHome: home, runtime, report });
	return { api: new PageApi(desk), desk };
}

/** Its name has a hash in it, and is another one after every build. */
function built(kind: "js" | "css"): string {
	const names = fs.existsSync(FILES) ? fs.readdirSync(FILES) : [];
	return names.find((name) => name.startsWith("page-") && name.endsWith(`.${kind}`)) ?? `page.${kind}`;
}
