/** As much of @xmpp/client as is used: it has no types of its own. */
declare module "@xmpp/client" {
	export interface XmlElement {
		readonly name: string;
		readonly attrs: Readonly<Record<string, string>>;
		children: (XmlElement | string)[];
		is(name: string, xmlns?: string): boolean;
		getChild(name: string, xmlns?: string): XmlElement | undefined;
		getChildren(name: string, xmlns?: string): XmlElement[];
		getChildText(name: string, xmlns?: string): string | null;
		toString(): string;
	}
	export interface XmppClient {
		readonly reconnect: { stop(): void };
		/** Mechanisms in the order in which they are preferred. */
		readonly saslFactory: { readonly _mechs: { name: string; mech: unknown }[] };
		readonly iqCaller: { request(stanza: XmlElement, timeout?: number): Promise<XmlElement> };
		readonly jid: { bare(): { toString(): string }; toString(): string } | null;
		readonly socket: { destroy?(): void } | null;
		on(event: "stanza", heard: (stanza: XmlElement) => void): void;
		on(event: "error", heard: (error: Error & { readonly condition?: string }) => void): void;
		on(event: "disconnect" | "offline", heard: () => void): void;
		prependListener(event: "element", heard: (element: XmlElement) => void): void;
		removeListener(event: string, heard: (...args: never[]) => void): void;
		send(stanza: XmlElement): Promise<void>;
		start(): Promise<unknown>;
		stop(): Promise<unknown>;
	}
	export function client(options: { service: string; domain: string; resource: string; username: string; password: string; timeout?: number }): XmppClient;
	export function xml(
		name: string,
		attrs?: Readonly<Record<string, string | undefined>>,
		...children: (XmlElement | string | readonly XmlElement[])[]
	): XmlElement;
}
