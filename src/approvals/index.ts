/** The room of questions to a person. */

export type { Answer, Approval, Choice, Question } from "./approval.js";
export { Approvals, type Approver, type Reply, type Revoked, type Unanswered } from "./approvals.js";
export { mustBePerson } from "./person.js";
