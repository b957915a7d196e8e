/** `models`: what the endpoint has. */
import { KeyRing } from "../../base/index.js";
import { chosenEndpoint } from "../../chat/index.js";
import { type ListedModel, listModels } from "../../model/index.js";
import { settingsOf } from "../settings.js";
import type { Call } from "../table.js";

export async function run(call: Call): Promise<number> {
	const { config, home } = settingsOf(call);
	const { endpoint, name } = chosenEndpoint(config);
	const keys = new KeyRing(home);
	const { key } = endpoint;
	const all = await listModels({ endpoint, ...(key ? { key: () => keys.read(key) } : {}) }, {}, new AbortController().signal);
	const [wanted] = call.words;
	const shown = wanted === undefined ? all : all.filter((model) => `${model.id} ${model.name ?? ""}`.toLowerCase().includes(wanted.toLowerCase()));
	if (call.out.json) call.out.data(shown);
	else if (shown.length === 0) call.out.note(`${name} has no model with "${wanted}" in its name.`);
	else
		call.out.table(
			["MODEL", "WINDOW", "TOOLS", "$ IN/OUT PER MILLION"],
			shown.map((model) => [model.id, windowOf(model), model.tools === undefined ? "?" : model.tools ? "yes" : "no", pricesOf(model)]),
		);
	return 0;
}

const windowOf = ({ window }: ListedModel): string => (window === undefined ? "?" : window.toLocaleString("en-US"));

const pricesOf = ({ prices }: ListedModel): string => (prices ? `${money(prices.input)} / ${money(prices.output)}` : "");
const money = (dollars: number): string => (dollars * 1e6).toFixed(2);
