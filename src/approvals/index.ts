/** The room of questions to a person. */

export type { Answer, Approval, Choice, Question } from "./approval.js";
export { Approvals } from "./approvals.js";
export type { Approver, Reply, Revoked, Unanswered } from "./outcome.js";
export { mustBePerson } from "./person.js";
