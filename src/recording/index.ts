/** The room of recordings: what a terminal printed, with its times, as asciicast v2 (docs/http.md). */
export { asciicast } from "./asciicast.js";
