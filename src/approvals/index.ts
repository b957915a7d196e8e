/** The room of questions to a person. */
export type { Approval, Choice } from "./approval.js";
export { Approvals, type Approver, type Reply, type Unanswered } from "./approvals.js";
export { mustBePerson } from "./person.js";
