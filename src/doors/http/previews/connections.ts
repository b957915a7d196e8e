/** Connections to ports of processes. Each is opened only if the process, or what it has started, listens on the port at that moment: it may have ended, and the port be another's. */
import http from "node:http";
import type { Duplex } from "node:stream";
import { REMOTE_MS } from "../../../base/index.js";
import { listeningOn } from "../../../process/index.js";
import type { AgentRuntime } from "../../../tools/index.js";
import type { PreviewName } from "./names.js";

const MOST = 64; // of one preview
const IDLE_MS = 4_000; // most servers close an idle one after five seconds
const KEPT_AGENTS = 100;

export class Connections {
	readonly #runtime: AgentRuntime;
	/** The one used longest ago comes first. */
	readonly #agents = new Map<string, http.Agent>();

	constructor(runtime: AgentRuntime) {
		this.#runtime = runtime;
	}

	/** Throws NOT_FOUND if nothing of the process listens at the port (any more), UNREACHABLE if its machine or the port does not answer. */
	async open({ id, port }: PreviewName): Promise<Duplex> {
		const process = this.#runtime.get(id);
		await process.sync(undefined, REMOTE_MS.page);
		return process.machine.processes.connect(process, await listeningOn(process, port));
	}

	/** Uses connections again. */
	agent(name: PreviewName): http.Agent {
		const agent = this.#agents.get(name.label) ?? this.#newAgent(name);
		this.#agents.delete(name.label);
		this.#agents.set(name.label, agent);
		for (const [label, old] of this.#agents) {
			if (this.#agents.size <= KEPT_AGENTS) break;
			old.destroy();
			this.#agents.delete(label);
		}
		return agent;
	}

	close(): void {
		for (const agent of this.#agents.values()) agent.destroy();
		this.#agents.clear();
	}

	#newAgent(name: PreviewName): http.Agent {
		const agent = new http.Agent({ keepAlive: true, maxSockets: MOST, timeout: IDLE_MS });
		const open = (_options: unknown, done: (error: Error | null, socket?: Duplex) => void): void => {
			this.open(name).then((socket) => done(null, socket), done);
		};
		return Object.assign(agent, { createConnection: open });
	}
}
