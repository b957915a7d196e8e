/** What happens inside one episode. agent/docs/environments.md */
export { quoted, type ToolContext } from "./context.js";
export { endedLines, runEpisode } from "./episode.js";
export { type EpisodeEnd, EpisodeError, type EpisodeResult, type Outcome, type Score, type ToolCount } from "./outcome.js";
export type { Actor, Begun, Environment, EpisodeAgent, Scene } from "./seam.js";
