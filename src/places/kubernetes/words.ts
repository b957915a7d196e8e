/** Explains messages of kubectl and the cluster, and what the user can do about them. */
import { type ErrorCode, HoldfastError } from "../../base/index.js";
import { plain } from "../child.js";

export const NOT_FOUND = /Error from server \(NotFound\)/;
export const ALREADY_EXISTS = /Error from server \(AlreadyExists\)/;
/** The server answers, and the node does not. */
export const NODE_AWAY = /error dialing backend/i;

const RIGHTS = "this user may not do that there; a Role with `pods: create, get, list, delete` and `pods/exec: create, get` is enough (docs/places.md has one)";

const CASES: readonly (readonly [RegExp, ErrorCode, string])[] = [
	[/violates PodSecurity/i, "START_FAILED", "the namespace takes only restricted pods: set `user` to a number, for example 1000"],
	[/exceeded quota/i, "LIMIT", "the quota of the namespace is used up; ask for less, or end other pods"],
	[/Forbidden/i, "DENIED", RIGHTS],
	[
		/Unauthorized|must be logged in|token has expired|provide credentials/i,
		"DENIED",
		"the cluster does not accept the login of kubectl, or it has expired; log in again, and see whether `kubectl get pods` works. What runs goes on",
	],
	[
		/exec plugin|executable \S+ not found|getting credentials/i,
		"DENIED",
		"the program that logs kubectl in does not work; see whether `kubectl get pods` works. It gets no secrets from variables here: they have to be in its files",
	],
	[/context "?[^"]*"? does not exist|context was not found/i, "INVALID", "there is no such context; `kubectl config get-contexts` lists them"],
	[/namespaces? "[^"]*" not found/i, "START_FAILED", "there is no such namespace; `kubectl get namespaces` lists them"],
	[/is invalid|strict decoding error|BadRequest/i, "START_FAILED", "the cluster does not take a pod with these settings"],
	[NODE_AWAY, "UNREACHABLE", "the node of the pod does not answer; see `kubectl get nodes`. What runs there may go on, and the next call tries again"],
	// What kubectl tries when no configuration names a cluster.
	[/localhost:8080/i, "UNREACHABLE", "kubectl knows of no cluster here; set `kubeconfig`, or see `kubectl config view`"],
	[
		/no such host|connection refused|server \S+ was refused|Unable to connect|i\/o timeout|deadline exceeded|TLS handshake|x509|connection reset|ServiceUnavailable|EOF/i,
		"UNREACHABLE",
		"the cluster cannot be reached; see whether `kubectl get pods` works",
	],
];

export function explained(doing: string, said: string): HoldfastError {
	const words = complaint(said);
	const [, code = "START_FAILED", advice] = CASES.find(([pattern]) => pattern.test(said)) ?? [];
	return new HoldfastError(code, advice === undefined ? `${doing}: ${words}` : `${advice} (${words})`);
}

export function complaint(said: string): string {
	const lines = said.split("\n").map(plain).filter(Boolean);
	return (lines.findLast((line) => /^error|^Error|^Unable|^The /.test(line)) ?? lines.at(-1) ?? "it said nothing").replace(/^error:\s*/i, "").slice(0, 600);
}
