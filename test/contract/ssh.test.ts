import { overSsh } from "./ssh-place.js";
import { LINKED, placeSuite } from "./suite.js";

placeSuite(overSsh, LINKED);
