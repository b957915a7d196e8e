/** The Docker client, loaded with the first container that is asked for. */
import { lazy } from "../../base/index.js";

export const loadDocker = lazy(() => import("./index.js"));
