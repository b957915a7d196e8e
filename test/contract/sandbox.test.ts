import { inSandbox } from "./places.js";
import { placeSuite } from "./suite.js";

placeSuite(inSandbox);
