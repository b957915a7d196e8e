export { DEFAULT_IMAGE, type DockerAddress, parseDockerAddress } from "./address.js";
export type { Owner } from "./body.js";
export { whereEngine } from "./engine.js";
export { type DockerHooks, dockerHost } from "./host.js";
export { type ContainerSummary, listContainers, removeContainer } from "./list.js";
export { type DockerOptions, dockerSchema } from "./options.js";
