import { overSshAsPlainUser } from "./ssh-place.js";
import { FEW, placeSuite } from "./suite.js";

// Rights matter to what is signalled, looked at and waited for; the rest is as for root.
placeSuite(overSshAsPlainUser, FEW);
