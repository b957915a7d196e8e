import { overSshAsPlainUser } from "./ssh-place.js";
import { placeSuite } from "./suite.js";

placeSuite(overSshAsPlainUser);
