/** The policy as the library shows it: `holdfast/policy`. */
export type { PlaceFacts } from "../places/index.js";
export { type DecideOptions, type Decision, decide, loadParser, loadRules, type Part, type Rule, type Rules, type Verdict } from "../policy/index.js";
