import { overSshAsPlainUser } from "./ssh-place.js";
import { ITS_OWN, placeSuite } from "./suite.js";

// Rights matter to what is signalled, looked at and waited for; the rest is as for root.
placeSuite(overSshAsPlainUser, ITS_OWN);
