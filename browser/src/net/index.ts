export { isLinkLocal, refusedAddress } from "./address.js";
export { type Fetched, fetchUrl } from "./fetch.js";
export { type Address, addressFilter, type Filter, hostOf, portOf, type Resolve } from "./filter.js";
export type { NetLimits } from "./limits.js";
export { Rates } from "./rates.js";
export { mayFetch, parseRobots, Robots } from "./robots.js";
