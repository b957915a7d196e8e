/** Machines reached over SSH. docs/places.md. */
export { formatSshAddress, parseSshAddress } from "./address.js";
export { type Near, sshHost } from "./host.js";
export type { SshOptions } from "./options.js";
