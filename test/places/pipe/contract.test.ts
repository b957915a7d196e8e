/** A kind that nothing of Holdfast knows passes the contract of all places, by one line of registration. */
import { afterAll } from "vitest";
import { registerKind } from "../../../src/places/kinds.js";
import { type ContractPlace, configured } from "../../contract/places.js";
import { placeSuite } from "../../contract/suite.js";
import { tempDir } from "../../support/home.js";
import { pipe } from "./kind.js";

afterAll(registerKind(pipe));

let home: string;
const behindPipe: ContractPlace = {
	name: "pipe",
	start: async () => {
		home = tempDir("pipe");
	},
	open: configured(() => ({ kind: "pipe", home })),
	cwd: () => home,
	listed: /^pipe:/,
};

// The rest is the code that ssh and containers run through; `npm run soak` runs all of it.
placeSuite(behindPipe, { groups: ["the shell keeps its state"] });
