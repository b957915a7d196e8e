import { inDocker } from "./docker-place.js";
import { ITS_OWN, placeSuite } from "./suite.js";

// The other cases reach a container by the same code as over SSH, where npm test runs them.
placeSuite(inDocker, ITS_OWN);
