/** Modal sandboxes as places. Loaded lazily, with the first sandbox. */
export { modalHost } from "./host.js";
export { list, remove, wheres } from "./leftovers.js";
