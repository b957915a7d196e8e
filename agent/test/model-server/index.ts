export { OVERFLOWS } from "./overflow.js";
export type { SeenRequest } from "./seen.js";
export { type ModelServer, modelServer, type Script } from "./server.js";
export { calls, empty, type Fault, fails, type Place, type Step, type StepCall, say } from "./step.js";
