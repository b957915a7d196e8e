import { overSsh } from "../contract/ssh-place.js";
import { filesSuite } from "./suite.js";

filesSuite(overSsh);
