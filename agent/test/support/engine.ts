/** The Docker engine of the test run, or why there can be none. test/support/ends.ts has put it there. */
export interface Engine {
	readonly address: string;
	readonly docker: {
		listContainers(): Promise<{ Id: string }[]>;
		getContainer(id: string): {
			inspect(): Promise<{ readonly Id: string; readonly Config: { readonly Labels: Readonly<Record<string, string>> } }>;
			remove(options: { force: boolean; v?: boolean }): Promise<unknown>;
			kill(): Promise<unknown>;
			start(): Promise<unknown>;
		};
		getImage(name: string): { tag(to: { repo: string; tag: string }): Promise<unknown>; remove(): Promise<unknown> };
	};
}

export const testEngine = (): Promise<Engine | string> => (globalThis as unknown as { testEngine(): Promise<Engine | string> }).testEngine();

export interface OwnEngine extends Engine {
	/** SIGKILL of dockerd. */
	kill(): Promise<void>;
	start(): Promise<void>;
}

/** One of the test's own. Without `liveRestore` its containers end when it is started again. */
export const ownEngine = (options: { readonly liveRestore: boolean }): Promise<OwnEngine | string> =>
	(globalThis as unknown as { testOwnEngine(given: typeof options): Promise<OwnEngine | string> }).testOwnEngine(options);

/** Bash, coreutils, perl; users root and agent (1000). */
export const FULL_IMAGE = "holdfast/full:1";
