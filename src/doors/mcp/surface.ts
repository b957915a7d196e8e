/** The MCP door's types for users of the library. None is of the SDK, which is bundled: an importer need not have it. */

/** A carrier of messages: each transport of an MCP SDK is one. */
export interface McpTransport {
	start(): Promise<void>;
	// biome-ignore lint/suspicious/noExplicitAny: messages and options are those of the SDK that the transport comes from
	send(message: any, options?: any): Promise<void>;
	close(): Promise<void>;
	onclose?: (() => void) | undefined;
	onerror?: ((error: Error) => void) | undefined;
	// biome-ignore lint/suspicious/noExplicitAny: as above
	onmessage?: ((message: any, extra?: any) => void) | undefined;
	sessionId?: string | undefined;
}

/** A server of one connection. */
export interface McpServer {
	connect(transport: McpTransport): Promise<void>;
	close(): Promise<void>;
}

export interface StdioDoor {
	/** Resolves when the client is gone, or after `close`. */
	readonly closed: Promise<void>;
	/** Some call is under way. */
	readonly busy: boolean;
	/** Resolves when the commands of calls that were taken back are dead, or in the background. */
	settled(): Promise<void>;
	close(): Promise<void>;
}

export interface HttpDoor {
	/** Some call is under way. */
	readonly busy: boolean;
	fetch(request: Request): Promise<Response>;
	/** Closes the door. Commands go on. */
	close(): Promise<void>;
}

export interface HttpDoorSettings {
	/** The task of all sessions; without it each session has its own. */
	readonly task?: string;
	readonly answerMs?: number;
	/** After how long a call becomes a task, for clients that know those. */
	readonly quickMs?: number;
	readonly onError?: (error: Error) => void;
	readonly limits?: { readonly sessions?: number; readonly idleMs?: number };
}
