/** MorphCloud instances as places. Loaded lazily, with the first instance. */
export { morphHost } from "./host.js";
export { list, remove, wheres } from "./leftovers.js";
