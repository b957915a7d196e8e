import { describe } from "vitest";
import { openRuntime } from "../../src/index.js";
import { atEnd } from "../support/home.js";
import { overApi } from "../support/http.js";
import { badInputCases } from "./bad-input.js";
import { connect } from "./door.js";
import { shellCases } from "./shell.js";

// The tools are the same functions as for the library; what this door adds is how a call gets to them and back.
describe("through the HTTP API", () => {
	const begin = () =>
		connect(async ({ home, task }) => {
			const runtime = await openRuntime({ home, warm: 0 });
			atEnd(() => runtime.close());
			const api = await overApi(runtime);
			return {
				call: async (tool, args) => (await api.request("POST", `/api/tools/${tool}?task=${encodeURIComponent(task)}`, { body: JSON.stringify(args) })).json(),
			};
		});
	describe("the shell keeps its state", () => shellCases(begin));
	describe("bad input", () => badInputCases(begin));
});
