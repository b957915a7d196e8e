export { resume as run } from "./run.js";
