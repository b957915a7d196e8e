/** Pods that Holdfast has made, for every home, in each namespace that places name. */
import type { Leftover, Leftovers, NamedPlace } from "../kind.js";
import { homeIsGone } from "../owner.js";
import type { Where } from "./kubectl.js";
import { aboutOf, deletePod, endOfPod, listPods, type Pod } from "./pod.js";

/** `NAMESPACE@CONTEXT#KUBECONFIG`; each part may be missing. */
const textOf = ({ namespace = "", context, kubeconfig }: Where): string =>
	`${namespace}${context === undefined ? "" : `@${context}`}${kubeconfig === undefined ? "" : `#${kubeconfig}`}`;

function whereOf(text = ""): Where {
	const [, namespace, context, kubeconfig] = /^([^@#]*)(?:@([^#]*))?(?:#(.*))?$/.exec(text) ?? [];
	return { namespace: namespace || undefined, context, kubeconfig };
}

export async function wheres(named: readonly NamedPlace[]): ReturnType<Leftovers["wheres"]> {
	const text = (value: unknown) => (typeof value === "string" ? value : undefined);
	const all = named.map(({ options: { namespace, context, kubeconfig } }) =>
		textOf({ namespace: text(namespace), context: text(context), kubeconfig: text(kubeconfig) }),
	);
	return { notes: [], wheres: [...new Set(all)].map((id) => ({ id, label: `Pods of ${id === "" ? "the usual namespace" : id}` })) };
}

const idOf = ({ metadata: { uid } }: Pod): string => uid.replaceAll("-", "").slice(0, 12);

export async function list(text: string | undefined, signal: AbortSignal): Promise<Leftover[]> {
	return (await listPods(whereOf(text), signal)).map((pod) => {
		const about = aboutOf(pod);
		const gone = about ? homeIsGone(about) : null;
		const began = pod.status.startTime ?? pod.metadata.creationTimestamp;
		const over = endOfPod(pod) !== undefined;
		const limit = pod.spec.activeDeadlineSeconds;
		return {
			id: idOf(pod),
			name: pod.spec.containers[0]?.image ?? pod.metadata.name,
			task: about?.task ?? "",
			home: about?.home ?? "",
			state: pod.status.phase.toLowerCase(),
			started_at: pod.metadata.creationTimestamp,
			...(limit === undefined || began === "" || over ? {} : { ends_at: new Date(Date.parse(began) + limit * 1000).toISOString() }),
			...(text ? { engine: text } : {}),
			orphan: gone === true || (gone === false && over),
			...(gone === null ? { elsewhere: true } : {}),
		};
	});
}

export async function remove(id: string, text: string | undefined): Promise<boolean> {
	const where = whereOf(text);
	const pod = (await listPods(where)).find((one) => idOf(one) === id);
	if (!pod) return false;
	await deletePod(where, pod.metadata.name);
	return true;
}
