export { type DecideOptions, decide, type Part, type Rules, type Verdict } from "./decide.js";
export { loadRules } from "./file.js";
export type { Decision, Rule } from "./rule.js";
export { loadParser } from "./tree.js";
