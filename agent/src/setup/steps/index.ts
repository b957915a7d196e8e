import type { SetupStep } from "../draft.js";
import { askEndpoint } from "./endpoint.js";
import { askKey } from "./key.js";
import { askModel } from "./model.js";
import { askPlace } from "./place.js";
import type { StepContext } from "./step.js";
import { askToolsets } from "./toolsets.js";

export type { StepContext } from "./step.js";

export const ASK: Readonly<Record<SetupStep, (context: StepContext) => Promise<void>>> = {
	endpoint: askEndpoint,
	key: askKey,
	model: askModel,
	place: askPlace,
	toolsets: askToolsets,
};
