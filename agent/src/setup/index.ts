export { applyAnswers } from "./answers.js";
export { checkSetup } from "./check.js";
export { type SetupStep, STEPS } from "./draft.js";
export { runPlatformWizard } from "./platform-wizard.js";
export { toolsetStates } from "./toolsets.js";
export { runWizard } from "./wizard.js";
