import { lazy } from "../base/index.js";

/** Loads the terminal emulator on first use: most programs need no screen, and loading takes a moment. */
export const loadScreen = lazy(() => import("../screen/index.js"));
