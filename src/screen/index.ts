/** The room of rendered screens: the content of a terminal, the keys to type at it, and whether it waits for input. */
export type { ScreenModes } from "./emulator.js";
export { corrected, type FirstScreen, firstScreen } from "./first.js";
export { encodeKeys, type KeyModes } from "./keys.js";
export { cutLine, LONGEST_LINE } from "./long-line.js";
export { attend } from "./persons.js";
export { type AnswerOptions, answerQueries } from "./queries.js";
export { LiveScreen, type LiveScreenOptions, readScreen, type ScreenView } from "./screen.js";
export { type UntilWaitingOptions, type UntilWaitingResult, untilWaiting } from "./until-waiting.js";
export type { WaitingFor } from "./verdict.js";
export { type Waiting, waitingFor } from "./waiting.js";
