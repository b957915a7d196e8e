/** Instances of MorphCloud as places. Loaded lazily, with the first of them. */
export { morphHost } from "./host.js";
export { list, remove, wheres } from "./leftovers.js";
