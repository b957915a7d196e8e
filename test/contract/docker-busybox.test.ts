import { inBusybox } from "./docker-place.js";
import { placeSuite } from "./suite.js";

placeSuite(inBusybox);
