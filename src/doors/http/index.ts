/** The HTTP door. */
export { isLoopback } from "./guard.js";
export { serveHttp } from "./serve.js";
export { ensureToken, readToken } from "./token.js";
