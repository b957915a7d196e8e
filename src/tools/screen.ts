import { lazy } from "../base/index.js";

/** Terminal screens: most programs never see one, and the emulator takes a moment to load. */
export const loadScreen = lazy(() => import("../screen/index.js"));
