/** The Docker client, loaded with the first requested container. */
import { lazy } from "../../base/index.js";

export const loadDocker = lazy(() => import("./index.js"));
