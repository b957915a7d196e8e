export { type SearchSettings, search, searchNote, searchProblem } from "./search.js";
