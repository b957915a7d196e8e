/**
 * A double of Atropos' trainer API, written from its schemas: the real server is archived and needs packages that cannot be had here. It fails on every route, key
 * and type that it does not know, and keeps everything in memory, as the real one does.
 */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";

type Json = Readonly<Record<string, unknown>>;

export interface TrainerDouble {
	readonly url: string;
	/** Groups that it has taken, in their order. */
	readonly groups: readonly Json[];
	readonly asked: readonly string[];
	/** Calls that the API does not have. */
	readonly broken: readonly string[];
	/** How many registrations are told to wait. */
	waits: number;
	/** Groups that wait to be trained on. */
	queue: number;
	/** An answer to `/scored_data` waits for it. */
	hold: Promise<unknown> | undefined;
	/** It has lost what it knew, as after a restart. */
	forget(): void;
	close(): Promise<void>;
}

const isList = (value: unknown, of: (one: unknown) => boolean): boolean => Array.isArray(value) && value.every(of);
const isInteger = (value: unknown): boolean => Number.isInteger(value);
const isNumber = (value: unknown): boolean => typeof value === "number";
const rowsOf = (of: (one: unknown) => boolean) => (value: unknown) => isList(value, (row) => isList(row, of));

type Fields = Readonly<Record<string, { readonly check: (value: unknown) => boolean; readonly must?: true }>>;
const REGISTER: Fields = {
	max_token_length: { check: isInteger, must: true },
	desired_name: { check: (value) => typeof value === "string", must: true },
	weight: { check: isNumber, must: true },
	group_size: { check: isInteger, must: true },
	min_batch_allocation: { check: isNumber },
};
const SCORED: Fields = {
	tokens: { check: rowsOf(isInteger), must: true },
	masks: { check: rowsOf(isInteger), must: true },
	scores: { check: (value) => isList(value, isNumber), must: true },
	inference_logprobs: { check: rowsOf(isNumber) },
	env_id: { check: isInteger },
};

function wrong(body: Json, fields: Fields): string | undefined {
	const unknown = Object.keys(body).find((key) => !(key in fields));
	if (unknown !== undefined) return `extra field ${unknown}`;
	for (const [key, { check, must }] of Object.entries(fields)) {
		if (body[key] === undefined && must) return `field required: ${key}`;
		if (body[key] !== undefined && !check(body[key])) return `wrong type: ${key}`;
	}
	return undefined;
}

export async function trainerDouble({ batch = 64 } = {}): Promise<TrainerDouble> {
	const [groups, asked, broken]: [Json[], string[], string[]] = [[], [], []];
	const known = new Map<number, number>();
	let ids = 0;
	const answer = async (method: string, path: string, body: Json): Promise<[number, unknown]> => {
		const refused = (fields: Fields): [number, unknown] | undefined => {
			const why = wrong(body, fields);
			if (why !== undefined) broken.push(`${path}: ${why}`);
			return why === undefined ? undefined : [422, { detail: why }];
		};
		switch (`${method} ${path}`) {
			case "POST /register-env": {
				const no = refused(REGISTER);
				if (no) return no;
				if (it.waits-- > 0) return [200, { status: "wait for trainer to start" }];
				known.set(++ids, body.group_size as number);
				return [200, { status: "success", env_id: ids, wandb_name: "x", checkpoint_dir: "", starting_step: 0, checkpoint_interval: 1, num_steps: 1 }];
			}
			case "GET /info":
				return [200, { batch_size: batch, max_token_len: 4_096 }];
			case "GET /status-env":
				if (!known.has(body.env_id as number)) return [500, { detail: "KeyError" }];
				return [200, { current_step: 0, queue_size: it.queue, unallocated_fraction: 0, self_queue_size: it.queue, max_group_size: 8, env_weight: 1 }];
			case "POST /scored_data": {
				const no = refused(SCORED);
				if (no) return no;
				const size = known.get(body.env_id as number);
				if (size === undefined) return [500, { detail: "KeyError" }];
				groups.push(body);
				await it.hold;
				return [200, (body.tokens as unknown[]).length === size ? { status: "received" } : { status: "buffered", buffer_size: 1 }];
			}
			case "POST /disconnect-env":
				return known.delete(body.env_id as number) ? [200, { status: "success" }] : [500, { detail: "KeyError" }];
			default:
				broken.push(`${method} ${path}`);
				return [404, { detail: "Not Found" }];
		}
	};
	const server = http.createServer((request, response) => {
		void (async () => {
			let text = "";
			for await (const piece of request) text += piece;
			const path = request.url ?? "";
			asked.push(`${request.method} ${path}`);
			const [status, value] = await answer(request.method ?? "", path, text === "" ? {} : (JSON.parse(text) as Json));
			response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
		})();
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const it: TrainerDouble = {
		...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, groups, asked, broken, waits: 0, queue: 0, hold: undefined },
		forget: () => known.clear(),
		close: async () => {
			server.closeAllConnections();
			server.close();
			await once(server, "close");
		},
	};
	return it;
}
