import { inKubernetes } from "./kubernetes-place.js";
import { FEW, placeSuite } from "./suite.js";

// What differs from a container of Docker is how a stream is opened, and that nobody ends a command with its stream.
placeSuite(inKubernetes, FEW);
