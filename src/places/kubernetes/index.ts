/** Kubernetes pods as places. Loaded lazily, with the first pod. */
export { kubernetesHost } from "./host.js";
export { list, remove, wheres } from "./leftovers.js";
