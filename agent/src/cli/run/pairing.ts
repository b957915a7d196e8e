/** `pairing`: who may write to the agent from chat platforms. */
import { AgentError } from "../../base/index.js";
import { People, type Role } from "../../gateway/index.js";
import { settingsOf } from "../settings.js";
import type { Call } from "../table.js";

const ROLES: readonly Role[] = ["talk", "approve", "admin"];

export async function run(call: Call): Promise<number> {
	const { out, words, values } = call;
	const { home, config } = settingsOf({ ...call, values: {} });
	const people = new People(home, () => config.gateway.people);
	const [what = "list", who = ""] = words;
	const role = (values.role ?? "talk") as Role;
	if (!ROLES.includes(role)) throw new AgentError("INVALID", `there is no role "${role}"; there are ${ROLES.join(", ")}`);
	if (what === "list") return list(call, people, config.gateway.people);
	if (who === "") throw new AgentError("INVALID", what === "revoke" ? "whom? give PLATFORM/ID" : "which code? the stranger was told it");
	if (what === "approve") {
		const { platform, id, name } = await people.approve(who, role);
		out.line(`${name} (${platform}/${id}) may ${role === "talk" ? "talk" : role} now.`);
		return 0;
	}
	if (what === "revoke") {
		const { platform, id, name } = await people.revoke(who);
		out.line(`${name} (${platform}/${id}) may not write any more.`);
		return 0;
	}
	throw new AgentError("INVALID", `there is no "pairing ${what}"; there are list, approve and revoke`);
}

function list({ out }: Call, people: People, set: Readonly<Record<string, Role>>): number {
	const codes = people.codes();
	const known = people.list();
	if (out.json) {
		out.data({
			people: [...Object.entries(set).map(([who, role]) => ({ who, role, from: "agent.json" })), ...known],
			codes: codes.map(({ code: _, ...one }) => one),
		});
		return 0;
	}
	const rows = [
		...Object.entries(set).map(([who, role]) => [who, role, "agent.json"]),
		...known.map(({ platform, id, role, name }) => [`${platform}/${id}`, role, name]),
		...codes.map(({ platform, id, name }) => [`${platform}/${id}`, "(waits)", name]),
	];
	if (rows.length === 0) out.line("Nobody may write yet. Whoever writes to the agent is told a code; `holdfast-agent pairing approve CODE` lets them in.");
	else out.table(["WHO", "MAY", "NAME"], rows);
	return 0;
}
