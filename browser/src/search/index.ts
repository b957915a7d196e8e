export { type SearchSettings, search, searchProblem } from "./search.js";
