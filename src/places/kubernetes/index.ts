/** Pods of Kubernetes as places. Loaded lazily, with the first of them. */
export { kubernetesHost } from "./host.js";
export { list, remove, wheres } from "./leftovers.js";
