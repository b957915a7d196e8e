import { overSshAsPlainUser } from "../contract/ssh-place.js";
import { filesSuite } from "./suite.js";

filesSuite(overSshAsPlainUser, { megabytes: 20, many: 300 });
