import { inApptainer } from "./apptainer-place.js";
import { FEW, placeSuite } from "./suite.js";

// What differs from a container of Docker is how a stream is opened, whose processes they are, and what a signal reaches.
placeSuite(inApptainer, FEW);
