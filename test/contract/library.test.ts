import { openRuntime } from "../../src/index.js";
import { atEnd } from "../support/home.js";
import { contractSuite } from "./suite.js";

contractSuite("through the library", async ({ home, task }) => {
	const runtime = await openRuntime({ home, task, warm: 0 });
	atEnd(() => runtime.close());
	return { call: (tool, args) => runtime[tool](args) };
});
