export { OVERFLOWS } from "./overflow.js";
export type { SeenRequest } from "./seen.js";
export { type ModelServer, type ModelServerOptions, modelServer, type Script } from "./server.js";
export { calls, empty, type Fault, fails, type Place, type Step, type StepCall, say } from "./step.js";
export { type TokenMode, textOfIds } from "./token-ids.js";
