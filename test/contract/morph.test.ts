import { inMorph } from "./morph-place.js";
import { FEW, placeSuite } from "./suite.js";

// The bytes go the way of SSH, which has the whole suite; what differs is the life of the machine.
placeSuite(inMorph, FEW);
