/** The HTTP door. */
export { isLoopback } from "./guard.js";
export { type HttpServer, serveHttp } from "./serve.js";
export { linkKey } from "./sign.js";
export { createSite } from "./site.js";
export { ensureToken, readToken } from "./token.js";
