import { charsOf, type Message, tokensOf } from "../model/index.js";

/** Estimates the tokens of messages from their characters. */
export const roughTokens = (messages: readonly Message[]): number => tokensOf(messages.reduce((sum, message) => sum + charsOf(message), 0));
