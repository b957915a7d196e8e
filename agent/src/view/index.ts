/** A run in a browser: `holdfast-agent view`. agent/docs/runs.md */
export { type RunPartOptions, runPart } from "./part.js";
