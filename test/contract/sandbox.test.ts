import { inSandbox } from "./places.js";
import { placeSuite } from "./suite.js";

// Background processes start, notices arrive and bad input is refused by the same code as without a sandbox.
placeSuite(inSandbox, { groups: ["foreground commands", "the shell keeps its state", "process actions", "programs on a terminal"] });
