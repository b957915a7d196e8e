/**
 * The people who may write: none, unless agent.json names them or a person with an account on this machine has let them in: `holdfast-agent pairing approve
 * CODE`. A stranger in a private chat is told a code, once an hour; nothing else comes of what a stranger writes.
 */
import { randomInt } from "node:crypto";
import fs from "node:fs";
import * as z from "zod";
import { type AgentConfig, AgentError, type AgentHome, type Clock, readIfThere, systemClock, withClaim, writeWhole } from "../base/index.js";
import { type GatewayPaths, gatewayClaim, gatewayPaths, makeGatewayDirs } from "./paths.js";
import type { PersonRef } from "./platforms/platform.js";
import { shownName } from "./route.js";

export type Role = "talk" | "approve" | "admin";
const RANK: Readonly<Record<Role, number>> = { talk: 1, approve: 2, admin: 3 };

const HOUR_MS = 3_600_000;
const CODE_CHARS = 8;
const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"; // none that look like another
const TRIES = 5;
/** More strangers than these have to wait: they can neither fill the disk nor guess. */
const CODES_AT_ONCE = 20;

const personSchema = z.object({ platform: z.string(), id: z.string(), name: z.string(), role: z.enum(["talk", "approve", "admin"]), since: z.string() });
const peopleSchema = z.object({ people: z.array(personSchema) });
export type KnownPerson = Readonly<z.infer<typeof personSchema>>;

const codeSchema = z.object({ code: z.string(), platform: z.string(), id: z.string(), name: z.string(), at: z.number() });
const pairingSchema = z.object({ codes: z.array(codeSchema), wrong: z.array(z.number()) });
type Pairing = z.infer<typeof pairingSchema>;
export type PairingCode = Readonly<z.infer<typeof codeSchema>>;

/** The people of a home. Several programs may change them; each look is at the file as it is. */
export class People {
	readonly #home: AgentHome;
	readonly #paths: GatewayPaths;
	readonly #clock: Clock;
	readonly #set: () => AgentConfig["gateway"]["people"];
	#cached: { readonly stamp: string; readonly people: readonly KnownPerson[] } = { stamp: "", people: [] };
	/** Strangers that were told a code, and until when nothing more is told to them. */
	readonly #told = new Map<string, number>();

	constructor(home: AgentHome, set: () => AgentConfig["gateway"]["people"], clock: Clock = systemClock) {
		this.#home = home;
		this.#set = set;
		this.#clock = clock;
		this.#paths = gatewayPaths(home);
	}

	/** Undefined: a stranger. */
	roleOf(platform: string, { id }: PersonRef): Role | undefined {
		const roles = [this.#set()[`${platform}/${id}`], ...this.list().flatMap((one) => (one.platform === platform && one.id === id ? [one.role] : []))];
		return roles.reduce((best, role) => (role !== undefined && (best === undefined || RANK[role] > RANK[best]) ? role : best), undefined);
	}

	may(platform: string, person: PersonRef, what: Role): boolean {
		const role = this.roleOf(platform, person);
		return role !== undefined && RANK[role] >= RANK[what];
	}

	/** Those who may approve on a platform, by name, for the words to one who may not. */
	approvers(platform: string): string[] {
		const known = this.list();
		const set = Object.entries(this.#set()).flatMap(([who, role]) =>
			role !== "talk" && who.startsWith(`${platform}/`) ? [who.slice(platform.length + 1)] : [],
		);
		const names = set.map((id) => known.find((one) => one.platform === platform && one.id === id)?.name ?? id);
		return [...new Set([...names, ...known.flatMap((one) => (one.platform === platform && one.role !== "talk" ? [one.name] : []))])];
	}

	/** Those that were let in, besides those of agent.json. */
	list(): readonly KnownPerson[] {
		const stat = fs.statSync(this.#paths.people, { throwIfNoEntry: false });
		const stamp = stat ? `${stat.mtimeMs} ${stat.ino} ${stat.size}` : "";
		if (stamp !== this.#cached.stamp) this.#cached = { stamp, people: this.#read(this.#paths.people, peopleSchema, { people: [] }).people };
		return this.#cached.people;
	}

	/** Codes that count now. */
	codes(): readonly PairingCode[] {
		return this.#fresh(this.#pairing()).codes;
	}

	/** The code for a stranger, if they are to be told one now: once an hour. */
	async meet(platform: string, person: PersonRef): Promise<string | undefined> {
		const who = `${platform}/${person.id}`;
		const now = this.#clock.now();
		const told = this.#told.get(who);
		if (told !== undefined && told > now && told <= now + HOUR_MS) return undefined;
		if (this.#told.size >= 1_000) this.#told.clear();
		this.#told.set(who, now + HOUR_MS);
		return this.#changed((pairing) => {
			if (pairing.codes.some((one) => one.platform === platform && one.id === person.id)) return undefined; // told by the program before
			if (pairing.codes.length >= CODES_AT_ONCE) return undefined;
			const code = Array.from({ length: CODE_CHARS }, () => LETTERS.charAt(randomInt(LETTERS.length))).join("");
			pairing.codes.push({ code, platform, id: person.id, name: shownName(person), at: now });
			return code;
		});
	}

	/** Lets the stranger in who was told this code. After five wrong ones within an hour none counts. */
	async approve(code: string, role: Role = "talk"): Promise<KnownPerson> {
		const wanted = code.toUpperCase().replace(/[^A-Z0-9]/g, "");
		const found = await this.#changed((pairing) => {
			if (pairing.wrong.length >= TRIES) return "locked" as const;
			const at = pairing.codes.findIndex((one) => one.code === wanted);
			if (at < 0) pairing.wrong.push(this.#clock.now());
			return at < 0 ? undefined : pairing.codes.splice(at, 1)[0];
		});
		if (found === "locked")
			throw new AgentError("DENIED", `${TRIES} wrong codes were given within an hour; try again later, or name the person in agent.json (gateway.people)`);
		if (!found)
			throw new AgentError("NOT_FOUND", `no stranger was told the code ${wanted || "(none)"} within the last hour; ask them to write again for a new one`);
		const { platform, id, name } = found;
		return this.add({ platform, id, name, role });
	}

	async add(person: Omit<KnownPerson, "since">): Promise<KnownPerson> {
		const known = { ...person, since: new Date(this.#clock.now()).toISOString() };
		await this.#write((people) => [...people.filter((one) => one.platform !== person.platform || one.id !== person.id), known]);
		this.#told.delete(`${person.platform}/${person.id}`);
		return known;
	}

	/** `who` is PLATFORM/ID, or a name that only one has. */
	async revoke(who: string): Promise<KnownPerson> {
		const fit = this.list().filter(({ platform, id, name }) => `${platform}/${id}` === who || id === who || name === who);
		const [only] = fit;
		if (!only || fit.length > 1) {
			const set = who in this.#set() ? "; this person is named in agent.json: remove them from gateway.people" : "";
			throw new AgentError(
				"NOT_FOUND",
				`${fit.length > 1 ? `"${who}" fits several` : `nobody was let in as "${who}"`}${set}; give PLATFORM/ID, \`holdfast-agent pairing list\` has them`,
			);
		}
		await this.#write((people) => people.filter((one) => one.platform !== only.platform || one.id !== only.id));
		return only;
	}

	#write(change: (people: readonly KnownPerson[]) => readonly KnownPerson[]): Promise<void> {
		return this.#locked(() => writeWhole(this.#paths.people, JSON.stringify({ people: change(this.list()) }, null, "\t"), { sync: true }));
	}

	#changed<T>(change: (pairing: Pairing) => T): Promise<T> {
		return this.#locked(() => {
			const pairing = this.#fresh(this.#pairing());
			const result = change(pairing);
			writeWhole(this.#paths.pairing, JSON.stringify(pairing));
			return result;
		});
	}

	#locked<T>(work: () => T): Promise<T> {
		return withClaim(gatewayClaim(this.#home, "people"), "people", () => {
			makeGatewayDirs(this.#paths);
			return work();
		});
	}

	/** A code from the future is one of a clock that was set back: it does not count. */
	#fresh({ codes, wrong }: Pairing): Pairing {
		const now = this.#clock.now();
		const recent = (at: number): boolean => at <= now + 60_000 && now - at < HOUR_MS;
		return { codes: codes.filter(({ at }) => recent(at)), wrong: wrong.filter(recent) };
	}

	#pairing(): Pairing {
		return this.#read(this.#paths.pairing, pairingSchema, { codes: [], wrong: [] });
	}

	/** Half a file, or one of another version, counts as none: fewer may write, never more. */
	#read<T>(file: string, schema: z.ZodType<T>, none: T): T {
		try {
			const parsed = schema.safeParse(JSON.parse(readIfThere(file)?.toString("utf8") ?? "null"));
			return parsed.success ? parsed.data : none;
		} catch {
			return none;
		}
	}
}
