/**
 * The interface of a kind of place: one entry of the table in kinds.ts. The compiler names the member that an entry lacks, and no other
 * file knows kinds by their names. docs/places.md ("Adding a kind") explains it by example.
 *
 * Options are what a person or program has written, plain data that survives JSON. Settings are checked options with defaults.
 */
import * as z from "zod";
import type { Config } from "../base/index.js";
import type { Host } from "./host.js";

export interface Kind<Name extends string = string, Options extends object = object, Settings extends object = object> {
	/** `kind` of a place object and of an entry in config.json, and the prefix of its keys: lower case letters and digits. */
	readonly name: Name;
	/** The forms of its addresses, for help and errors. The first is the shortest useful one. */
	readonly forms: readonly [string, ...string[]];
	/** Text of `holdfast --help` after the form, if any. */
	readonly help?: string;
	/** A strict object whose keys are the settings. Lazy, as all schemas that short commands load: built on first use. */
	readonly schema: z.ZodObject | z.ZodLazy<z.ZodObject>;
	/** Returns checked settings. Throws INVALID, with the key, if the options cannot be used. */
	settings(options: Options): Settings;
	/** Returns what config.json sets for every place of this kind; a place's own options win. */
	defaults?(config: Config): Options;
	/** Returns the options in an address. Returns undefined if the text is no address of this kind; throws INVALID if it is an unusable one. */
	parse(text: string): Options | undefined;
	/** Returns the end of a sentence for a text that resembles an address of this kind: what to write instead. */
	suggest?(text: string): string | undefined;
	/** Returns the display name for lists and results: user and machine, no directory, no secrets. */
	show(options: Options): string;
	/** Returns the directory that a new shell starts in, if the options say so; it may begin with ~/. */
	directory(options: Options): string | undefined;
	/** Returns what distinguishes two machines: the options without those that only affect how a shell starts. */
	identity(options: Options): object;
	/** Returns how well commands are isolated from this machine. */
	boundary(settings: Settings): Boundary;
	/** Returns what `holdfast doctor` reports about this kind on this machine, whatever place is chosen. Quick, and without a network. */
	doctor?(): KindCheck;
	/** How commands reach it: directly, through a local sandbox, or over the byte streams of a host. */
	readonly runs: "here" | "sandbox" | Remote<Options, Settings>;
}

/** Returns the names of the settings of a kind. */
export const keysOf = ({ schema }: Kind): readonly string[] => Object.keys((schema instanceof z.ZodLazy ? schema._zod.innerType : schema).shape);

/** A boundary is computed from settings, never from a name: a container with the home mounted is none. */
export interface Boundary {
	/** Commands cannot harm this machine: the default rules need not ask. */
	readonly contains: boolean;
	/** Commands cannot read this machine's files, except those that a person shares with a sandbox: results may be unmasked. */
	readonly hides: boolean;
}

export const NO_BOUNDARY: Boundary = { contains: false, hides: false };

export interface KindCheck {
	readonly name: string;
	readonly state: "ok" | "warn" | "fail";
	readonly found: string;
	readonly advice?: string;
}

/** The part of a kind for places behind a byte stream. */
export interface Remote<Options extends object = object, Settings extends object = object> {
	/**
	 * Returns how long a task's own machine (a container, an instance, a pod) stays without use. Returns undefined for a machine that all tasks share,
	 * and that Holdfast does not end.
	 */
	life(settings: Settings): Life | undefined;
	/** Single calls may run as another user of the machine: `HostOwner.user`. */
	readonly users?: true;
	/** Loads the code of the kind on first use. Connects to nothing and starts nothing. */
	host(options: Options, owner: HostOwner, hooks: HostHooks): Promise<Host>;
	/** Returns the options for a doctor check that leaves nothing behind: for a task's own machine, a short life and nothing kept. */
	trial(options: Options): Options;
	/** Its leftovers outside of this home, and how to remove them. A shared machine leaves nothing. */
	readonly leftovers?: Leftovers;
}

export interface Life {
	readonly idleSeconds: number;
	/** An unused machine is suspended instead of ended: `Host.rest`. */
	readonly rests?: boolean;
}

export interface HostOwner {
	/** Holdfast's home. */
	readonly home: string;
	readonly task: string;
	/** Commands run as this user instead of the one in the settings. The machine is the same. */
	readonly user?: string;
}

export interface HostHooks {
	/** Returns the life that any program last used; or `idle SECONDS` if it ended because it was unused. */
	last?(): string | undefined;
	/** Receives what a start waits for, one line at a time: an image pull, a queue. */
	progress?(line: string): void;
	/** How long a start waits before it says what for; for tests. */
	readonly patienceMs?: number;
}

export interface Leftovers {
	/**
	 * Returns the engines, accounts or clusters to ask, each once. Only those that config.json, a dedicated variable or a remembered place names.
	 * Connects to nothing.
	 */
	wheres(known: KnownPlaces): Promise<Wheres>;
	/** Returns the leftovers of one source, for every home. Throws if it cannot be asked. */
	list(where: LeftoverSource, signal: AbortSignal): Promise<readonly Leftover[]>;
	/** Returns false if it was gone already. */
	remove(item: Pick<Leftover, "id" | "engine">): Promise<boolean>;
}

export interface KnownPlaces {
	/** The places of the kind that config.json names or that this home has used. */
	readonly named: readonly NamedPlace[];
	/** False: config.json cannot be read, which has been reported. */
	readonly complete: boolean;
}

export interface NamedPlace {
	readonly name: string;
	/** Unchecked. */
	readonly options: Readonly<Record<string, unknown>>;
	/** config.json has it. */
	readonly configured: boolean;
}

export interface Wheres {
	readonly wheres: readonly LeftoverSource[];
	/** Reasons why some of them cannot be asked, a sentence each. */
	readonly notes: readonly string[];
}

export interface LeftoverSource {
	/** As a setting of its places names it; undefined: the usual one. */
	readonly id: string | undefined;
	/** The leftovers of the source, as the beginning of a sentence: "Containers of unix:///run/docker.sock". */
	readonly label: string;
	/** A missing answer is not reported, because the user did not ask for this source. */
	readonly quiet?: boolean;
}

export interface Leftover {
	readonly id: string;
	readonly name: string;
	readonly task: string;
	readonly home: string;
	/** `running`, or the state as its engine calls it. */
	readonly state: string;
	readonly started_at: string;
	/** When it ends, whatever runs in it. */
	readonly ends_at?: string;
	/** Its engine, account or cluster, if not the usual one. */
	readonly engine?: string;
	/** No program will use it again. */
	readonly orphan: boolean;
	/** Its home is on another host, or unknown on this one: this machine cannot tell whether a program uses it. */
	readonly elsewhere?: true;
}

/** Checks that an entry has every member, and keeps the exact types of its options. */
export const defineKind = <const Name extends string, Options extends object, Settings extends object>(
	kind: Kind<Name, Options, Settings>,
): Kind<Name, Options, Settings> => kind;
