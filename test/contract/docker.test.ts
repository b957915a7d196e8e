import { inDocker } from "./docker-place.js";
import { placeSuite } from "./suite.js";

// The other groups reach a container by the same code as over SSH, where npm test runs them.
placeSuite(inDocker, { groups: ["foreground commands", "process actions", "programs on a terminal"] });
