/** Instances of Apptainer as places. Loaded lazily, with the first instance. */
export { apptainerHost } from "./host.js";
export { list, remove, wheres } from "./leftovers.js";
