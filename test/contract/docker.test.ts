import { inDocker } from "./docker-place.js";
import { ITS_OWN, placeSuite } from "./suite.js";

// A container is reached by the same code as a machine over SSH, where npm test runs more.
placeSuite(inDocker, ITS_OWN);
