import { inBusybox } from "../contract/docker-place.js";
import { filesSuite } from "./suite.js";

filesSuite(inBusybox, { poor: true, megabytes: 20, many: 300 });
