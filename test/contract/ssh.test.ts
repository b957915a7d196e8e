import { overSsh } from "./ssh-place.js";
import { placeSuite } from "./suite.js";

placeSuite(overSsh);
