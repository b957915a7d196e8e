/** Browsers in the page: `holdfast serve` looks for this module as `holdfast-browser/page`. */
export { type LivePartOptions, sitePart } from "./part.js";
