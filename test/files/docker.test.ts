import { inDocker } from "../contract/docker-place.js";
import { rounds } from "../support/seed.js";
import { filesSuite } from "./suite.js";

filesSuite(inDocker, { megabytes: rounds(20, 100), many: rounds(300, 2000) });
