/** Docker containers as places: addresses, the host that runs commands in a container, and leftovers. Loaded lazily, with the first container. */
export { DEFAULT_IMAGE, type DockerAddress, parseDockerAddress } from "./address.js";
export type { ContainerOwner } from "./body.js";
export { whereEngine } from "./engine.js";
export { type DockerHooks, dockerHost } from "./host.js";
export { type ContainerSummary, listContainers, removeContainer } from "./list.js";
export { type DockerOptions, dockerSchema } from "./options.js";
