export { baseUrl, type EndpointSettings, flagsOf, KNOWN_ENDPOINTS, type KnownEndpoint } from "./endpoints.js";
export { aboutModel } from "./find-window.js";
export { type ListedModel, listModels } from "./list.js";
export type {
	Answer,
	AnswerTokens,
	Message,
	Model,
	ModelCall,
	ModelFailure,
	ModelRequest,
	Piece,
	Reasoning,
	ToolShown,
	Usage,
	WireFormat,
} from "./model.js";
export { ModelError } from "./model.js";
export { type EndpointModel, type ModelOptions, type ModelParts, openModel } from "./open.js";
export { type ProbeResult, type ProbeStep, probeModel } from "./probe.js";
export type { TokenIdsWish } from "./token-ids.js";
export { charsOf, estimateTokens, tokensOf } from "./window.js";
