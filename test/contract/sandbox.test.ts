import { inSandbox } from "./places.js";
import { placeSuite } from "./suite.js";

// Notices and bad input pass by the same code as without a sandbox.
placeSuite(inSandbox, {
	groups: ["foreground commands", "the shell keeps its state", "background processes", "process actions", "programs on a terminal"],
});
