/** The room of the policy: what shell text would really run, and what the rules decide about it. Loaded lazily: the parser takes a moment. */
export { type DecideOptions, decide, type Part, type Rules, type Verdict } from "./decide.js";
export { checkRules, loadRules, personFile } from "./file.js";
export { Judge, type More } from "./judge.js";
export { type Decision, type Rule, RuleFile } from "./rule.js";
export { loadParser } from "./tree.js";
