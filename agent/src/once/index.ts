export { runOnce } from "./once.js";
export { readPrompt } from "./prompt.js";
