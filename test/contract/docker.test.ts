import { inDocker } from "./docker-place.js";
import { placeSuite } from "./suite.js";

placeSuite(inDocker);
