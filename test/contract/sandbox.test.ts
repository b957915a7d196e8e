import { inSandbox } from "./places.js";
import { ITS_OWN, placeSuite } from "./suite.js";

// What is made of output, ends and questions is the same code as without a sandbox.
placeSuite(inSandbox, ITS_OWN);
