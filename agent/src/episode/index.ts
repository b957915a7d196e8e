/** The inside of one episode. agent/docs/environments.md */
export { quoted } from "./command.js";
export { isLocal, isSandbox, type ToolContext } from "./context.js";
export { endEpisode, endedLines, runEpisode } from "./episode.js";
export { type EpisodeEnd, EpisodeError, type EpisodeResult, type Evidence, type Outcome, type Score, type ToolCount } from "./outcome.js";
export type { Actor, Begun, Environment, EpisodeAgent, Judged, Scene, Setting, Site } from "./seam.js";
