/** Jobs of Slurm as places. Loaded lazily, with the first of them. */
export { slurmHost } from "./host.js";
export { list, remove, wheres } from "./leftovers.js";
