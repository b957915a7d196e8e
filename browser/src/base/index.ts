export { messageOf, WebError } from "./errors.js";
export { keyFrom, loadSettings, type Settings } from "./settings.js";
export { anySignal } from "./signals.js";
export { oneLine, untrusted } from "./untrusted.js";
