import { here } from "./places.js";
import { placeSuite } from "./suite.js";

placeSuite(here);
