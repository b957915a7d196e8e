import { inDocker } from "../contract/docker-place.js";
import { filesSuite } from "./suite.js";

filesSuite(inDocker);
