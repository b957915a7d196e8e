/** Sandboxes of Modal as places. Loaded lazily, with the first of them. */
export { modalHost } from "./host.js";
export { list, remove, wheres } from "./leftovers.js";
