import { here } from "../contract/places.js";
import { filesSuite } from "./suite.js";

filesSuite(here);
