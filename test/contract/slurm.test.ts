import { inSlurm } from "./slurm-place.js";
import { FEW, placeSuite } from "./suite.js";

// What differs from a login over SSH is how bytes get there, and who the processes belong to.
placeSuite(inSlurm, FEW);
