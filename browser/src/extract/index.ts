export { decodeText } from "./charset.js";
export { imageSize, imageType, type Kind, kindOf } from "./kind.js";
export { findIn, type Heading, outlineOf, partOf, shownOutline } from "./outline.js";
export { type Extracted, endExtraction, extractIn } from "./work.js";
