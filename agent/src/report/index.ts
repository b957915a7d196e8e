/** The results of a run: numbers, a comparison of two runs, and a page of one file. agent/docs/runs.md */
export { compareRuns, type Flip } from "./compare.js";
export type { Interval } from "./estimates.js";
export { numbersText, reportHtml } from "./html.js";
export { numbersOf, type RunNumbers, rewardOf } from "./numbers.js";
