/** The chat in the terminal, and what other doors share with it: an agent with its conversation, the slash commands, how text is shown. */
export { type Agent, type AgentOptions, type AgentSettings, openAgent } from "./agent.js";
export { runChat } from "./chat.js";
export { chosenModel } from "./chosen-model.js";
export { type CommandContext, runSlash, SLASH_COMMANDS, type SlashCommand } from "./commands/index.js";
export { chosenEndpoint, modelOf } from "./endpoint.js";
export { EXIT, exitOf } from "./exit.js";
export { isDumb, type Look, lookOf, paint } from "./render/look.js";
export { MarkdownStream, renderMarkdown } from "./render/stream.js";
export { oneLine, visible } from "./render/visible.js";
export { clip, width } from "./render/width.js";
export { wrapText } from "./render/wrap.js";
export { checkSize } from "./size.js";
export { retryText } from "./view/retry.js";
export { callLine } from "./view/tool-lines.js";
