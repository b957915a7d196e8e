/** The HTTP door. */
export { answerLinks } from "./answer.js";
export { partsSchema } from "./part.js";
export type { SitePart } from "./part-types.js";
export { previewLink } from "./previews/access.js";
export { labelOf, NO_NAME, parsePreviewUrls, previewOrigin } from "./previews/names.js";
export { isLoopback, parsePublicUrls } from "./public-url.js";
export { type HttpServer, serveHttp } from "./serve.js";
export { linkKey } from "./sign.js";
export { createSite } from "./site.js";
export { ensureToken, readToken } from "./token.js";
