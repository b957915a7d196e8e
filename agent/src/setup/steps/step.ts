/** A step of the wizard asks, tries what it was told, and changes the draft; nothing is written there. */
import type { KeyRing, LoadedConfig } from "../../base/index.js";
import type { SetupDraft } from "../draft.js";

export interface StepContext {
	readonly draft: SetupDraft;
	readonly settings: LoadedConfig;
	readonly keys: KeyRing;
	readonly signal: AbortSignal;
}
