/**
 * What a kind of place brings: one entry of the table in kinds.ts. The compiler names the member that an entry lacks, and no other
 * file knows kinds by their names. docs/places.md ("Adding a kind") explains it by example.
 *
 * Options are what a person or program has written, plain data that survives JSON. Settings are the same, checked and with defaults.
 */
import * as z from "zod";
import type { Config } from "../base/index.js";
import type { Host } from "./host.js";

export interface Kind<Name extends string = string, Options extends object = object, Settings extends object = object> {
	/** `kind` of a place object and of an entry in config.json, and the beginning of its keys: lower case letters and digits. */
	readonly name: Name;
	/** How its addresses are written, for help and errors. The first is the shortest useful one. */
	readonly forms: readonly [string, ...string[]];
	/** What `holdfast --help` says besides the form, if it says anything. */
	readonly help?: string;
	/** A strict object: its keys are the settings there are. Lazy, as all schemas of what short commands load: they are made when they are first used. */
	readonly schema: z.ZodObject | z.ZodLazy<z.ZodObject>;
	/** Returns checked settings. Throws INVALID, with the key, if the options cannot be used. */
	settings(options: Options): Settings;
	/** Returns what config.json sets for every place of this kind; what a place itself says comes first. */
	defaults?(config: Config): Options;
	/** Returns what an address says. Returns undefined if the text is no address of this kind; throws INVALID if it is one that cannot be used. */
	parse(text: string): Options | undefined;
	/** Returns the end of a sentence for a text that is no place but looks like one of these: what to write instead. */
	suggest?(text: string): string | undefined;
	/** Returns how lists and results show it: who and where, no directory, nothing secret. */
	show(options: Options): string;
	/** Returns the directory that a new shell starts in, if the options say so; it may begin with ~/. */
	directory(options: Options): string | undefined;
	/** Returns what tells two machines apart: the options without those that only say how a shell starts. */
	identity(options: Options): object;
	/** Returns how far commands are kept from this machine. */
	boundary(settings: Settings): Boundary;
	/** Returns what `holdfast doctor` says about this kind on this machine, whatever place is chosen. Quick, and without a network. */
	doctor?(): KindCheck;
	/** How commands get there: directly, through a sandbox of this machine, or over the byte streams of a host. */
	readonly runs: "here" | "sandbox" | Remote<Options, Settings>;
}

/** Returns the names of the settings of a kind. */
export const keysOf = ({ schema }: Kind): readonly string[] => Object.keys((schema instanceof z.ZodLazy ? schema._zod.innerType : schema).shape);

/** A boundary is computed from settings, never from a name: a container with the home mounted is none. */
export interface Boundary {
	/** Commands cannot harm this machine: the default rules need not ask. */
	readonly contains: boolean;
	/** Commands cannot read this machine's files, but for those that a person shares with a sandbox: results may be unmasked. */
	readonly hides: boolean;
}

export const NO_BOUNDARY: Boundary = { contains: false, hides: false };

export interface KindCheck {
	readonly name: string;
	readonly state: "ok" | "warn" | "fail";
	readonly found: string;
	readonly advice?: string;
}

/** What only places have that are reached over a byte stream. */
export interface Remote<Options extends object = object, Settings extends object = object> {
	/** Returns how long a task's own machine (a container, an instance, a pod) stays without use. Returns undefined for a machine that all tasks share, and that Holdfast does not end. */
	life(settings: Settings): Life | undefined;
	/** Whether single calls may run as another user of the machine: `HostOwner.user`. */
	readonly users?: true;
	/** Loads what it needs with the first of its kind. Reaches and starts nothing. */
	host(options: Options, owner: HostOwner, hooks: HostHooks): Promise<Host>;
	/** Returns the options for a look by doctor that leaves nothing: of a task's own machine, a short life and nothing kept. */
	trial(options: Options): Options;
	/** What it leaves behind outside of this home, and how that is removed. A machine that all share leaves nothing. */
	readonly leftovers?: Leftovers;
}

export interface Life {
	readonly idleSeconds: number;
	/** One that is not used is put to rest and not ended: `Host.rest`. */
	readonly rests?: boolean;
}

export interface HostOwner {
	/** Holdfast's home. */
	readonly home: string;
	readonly task: string;
	/** Commands run as this user, in place of the one that the settings name. The machine is the same. */
	readonly user?: string;
}

export interface HostHooks {
	/** Returns the life that was last used, by whatever program; or `idle SECONDS` when it was ended for want of use. */
	last?(): string | undefined;
	/** What a start is waiting for, a line at a time: an image that is fetched, a queue. */
	progress?(line: string): void;
	/** How long a start waits before it says what for; for tests. */
	readonly patienceMs?: number;
}

export interface Leftovers {
	/** Returns what there is to ask: engines, accounts, clusters, each once. Only those that config.json, a variable meant for it or a remembered place names. Reaches nothing. */
	wheres(known: KnownPlaces): Promise<Wheres>;
	/** Returns what one of them has, of every home. Throws if it cannot be asked. */
	list(where: LeftoverSource, signal: AbortSignal): Promise<readonly Leftover[]>;
	/** Returns false if it was gone already. */
	remove(item: Pick<Leftover, "id" | "engine">): Promise<boolean>;
}

export interface KnownPlaces {
	/** Those of the kind that config.json names, and that this home has used. */
	readonly named: readonly NamedPlace[];
	/** False: config.json cannot be read, which is said already. */
	readonly complete: boolean;
}

export interface NamedPlace {
	readonly name: string;
	/** Not checked. */
	readonly options: Readonly<Record<string, unknown>>;
	/** Whether config.json has it. */
	readonly configured: boolean;
}

export interface Wheres {
	readonly wheres: readonly LeftoverSource[];
	/** What is wrong with those that cannot be asked. */
	readonly notes: readonly string[];
}

export interface LeftoverSource {
	/** As a setting of its places names it; undefined: the usual one. */
	readonly id: string | undefined;
	/** What it would have listed, as the beginning of a sentence: "Containers of unix:///run/docker.sock". */
	readonly label: string;
	/** That it does not answer is no news: nobody has asked for it. */
	readonly quiet?: boolean;
}

export interface Leftover {
	readonly id: string;
	readonly name: string;
	readonly task: string;
	readonly home: string;
	/** `running`, or in the words of whatever runs it. */
	readonly state: string;
	readonly started_at: string;
	/** When it ends, whatever runs in it. */
	readonly ends_at?: string;
	/** Which engine, account or cluster has it, if not the usual one. */
	readonly engine?: string;
	/** No program will come back to it. */
	readonly orphan: boolean;
	/** Its home is on another host, or unknown on this one: whether a program uses it cannot be told here. */
	readonly elsewhere?: true;
}

/** Checks that an entry has all of the above, and keeps the exact types of its options. */
export const defineKind = <const Name extends string, Options extends object, Settings extends object>(
	kind: Kind<Name, Options, Settings>,
): Kind<Name, Options, Settings> => kind;
