/** The room of events: what happens in a home, for a program that listens. */
export type { HoldfastEvent } from "./event.js";
export { type EventOptions, eventSource, streamEvents } from "./stream.js";
