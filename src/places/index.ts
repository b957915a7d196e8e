/** The room of places: turns a request for a place into a `Machine`, which answers everything that depends on where a command runs. */
export {
	asUser,
	boundaryOf,
	directoryOf,
	factsOf,
	lifeOf,
	machineKey,
	type PlaceAsked,
	type PlaceFacts,
	type PlaceGiven,
	type PlaceWish,
	placeFrom,
	placeKey,
	placeName,
	placeSchema,
	wishText,
} from "./address.js";
export { Boxes } from "./boxes.js";
export { describePlace } from "./describe.js";
export { forgetPlaces } from "./forget.js";
export { hostOf, trialOf } from "./hosts.js";
export { type Boundary, type KnownPlaces, type Leftover, type LeftoverSource, type NamedPlace, NO_BOUNDARY } from "./kind.js";
export { kinds, type PlaceObject } from "./kinds.js";
export type { Placed, ShellLine } from "./line.js";
export { IDLE } from "./lives.js";
export { LocalMachine } from "./local/machine.js";
export { checkDirectory } from "./local/place.js";
export type { Collector, Equipment, KeptProcess, Machine, Stdin } from "./machine.js";
export { notYet } from "./pending.js";
export type { Place, Sandbox } from "./place.js";
export { CAPABILITIES, explain, findSandboxTools, MOUNT_TRIES, mountWentAway, type SandboxTools } from "./probe.js";
export { type Remembered, recallPlace, rememberedPlaces } from "./remember.js";
export { noCapabilities, sandboxPlace } from "./sandbox.js";
export { isDrained, type Sight, sightOf } from "./sight.js";
export { givesOwnRights, hasToBeReached, isSharedByTasks, leftoversOf, sandboxNeeded, sharesPaths, startDirectory } from "./traits.js";
export { isUser, USER_FORM } from "./user.js";
export { INSIDE, viewOf } from "./view.js";
