/** Model servers on this machine: Ollama and LM Studio, if they answer where they usually do. */
import { KNOWN_ENDPOINTS, type KnownEndpoint, listModels } from "../model/index.js";

const PORTS = /:(11434|1234)\//;
const LOOK_MS = 1_000;

export interface FoundServer {
	readonly known: KnownEndpoint;
	readonly models: number;
}

export async function localServers(candidates: readonly KnownEndpoint[] = KNOWN_ENDPOINTS.filter(({ url }) => PORTS.test(url))): Promise<FoundServer[]> {
	const looks = candidates.map(async (known): Promise<FoundServer[]> => {
		try {
			const models = await listModels({ endpoint: { url: known.url, format: "chat" } }, {}, AbortSignal.timeout(LOOK_MS));
			return [{ known, models: models.length }];
		} catch {
			return []; // nothing answers there, or something else does
		}
	});
	return (await Promise.all(looks)).flat();
}
