import { inBusybox } from "./docker-place.js";
import { ITS_OWN, placeSuite } from "./suite.js";

// What differs from an image with bash and perl is the shell and what ends, signals and reads; the rest is as there.
placeSuite(inBusybox, ITS_OWN);
