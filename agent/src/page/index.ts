/** Conversations in the page: `holdfast serve` looks for this module as `holdfast-agent/page`. */
export { type PartOptions, sitePart } from "./part.js";
