import { inDocker } from "./docker-place.js";
import { placeSuite } from "./suite.js";

// Notices and bad input reach a container by the same code as over SSH, where npm test shows them.
placeSuite(inDocker, {
	groups: ["foreground commands", "the shell keeps its state", "background processes", "process actions", "programs on a terminal"],
});
