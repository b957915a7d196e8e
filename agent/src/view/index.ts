/** A run in a browser: `holdfast-agent view`. agent/docs/runs.md */
export { runPart } from "./part.js";
