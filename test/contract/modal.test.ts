import { inModal } from "./modal-place.js";
import { FEW, placeSuite } from "./suite.js";

// What differs from a container of Docker is how a stream is opened, and that each write to it is a call of its own.
placeSuite(inModal, FEW);
