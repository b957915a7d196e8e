import { it } from "vitest";
import { movesEverything } from "./moves.js";
import { dockerField, field } from "./support.js";

const MEGABYTES = 8; // 100 in the soak: digests are compared whatever the size

it("the hands of an episode move any bytes both ways with equal digests, see secrets as they are, and end what takes too long", async () => {
	await movesEverything(await field(), MEGABYTES);
});

it("in a container too", async (context) => {
	await movesEverything(await dockerField(context), MEGABYTES);
});
