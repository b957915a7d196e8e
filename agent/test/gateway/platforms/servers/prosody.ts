/** A real prosody, and people with the real client library. */

import fs from "node:fs";
import path from "node:path";
import { client, type XmppClient, xml } from "@xmpp/client";
import { withoutManagement } from "../../../../src/gateway/platforms/xmpp-connection.js";
import { useScram } from "../../../../src/gateway/platforms/xmpp-scram.js";
import { Daemon, freePort, serverDir } from "./daemon.js";

export const PROSODY = { prosody: "/usr/bin/prosody" };

export interface ProsodyServer {
	readonly port: number;
	/** Makes or changes an account. */
	account(name: string, password: string): void;
	close(): Promise<void>;
}

export async function startProsody({ archive = true }: { readonly archive?: boolean } = {}): Promise<ProsodyServer> {
	const [dir, port] = [serverDir("prosody"), await freePort()];
	const modules = ["roster", "saslauth", "disco", "ping", "smacks", "carbons", ...(archive ? ["mam"] : []), "offline", "posix"];
	const config = [
		`daemonize = false; pidfile = "${dir}/prosody.pid"; run_as_root = true`,
		`interfaces = { "127.0.0.1" }; c2s_ports = { ${port} }; s2s_ports = {}; http_ports = {}; https_ports = {}; legacy_ssl_ports = {}`,
		`modules_enabled = { ${modules.map((name) => `"${name}"`).join(", ")} }; modules_disabled = { "s2s", "tls" }`,
		'allow_unencrypted_plain_auth = true; c2s_require_encryption = false; authentication = "internal_plain"',
		`storage = "internal"; archive_expires_after = "1d"; data_path = "${dir}"`,
		`log = { { levels = { min = "info" }, to = "file", filename = "${dir}/log" } }`,
		'VirtualHost "localhost"',
		'Component "rooms.localhost" "muc"',
		'modules_enabled = { "muc_mam" }; muc_log_by_default = true; restrict_room_creation = false; muc_room_locking = false',
	];
	fs.writeFileSync(path.join(dir, "prosody.cfg.lua"), `${config.join("\n")}\n`);
	fs.mkdirSync(path.join(dir, "localhost", "accounts"), { recursive: true });
	const account = (name: string, password: string): void =>
		fs.writeFileSync(path.join(dir, "localhost", "accounts", `${name}.dat`), `return { ["password"] = "${password}"; };\n`);
	account("holdfast", "secret");
	const daemon = new Daemon(["/usr/bin/prosody", "--config", path.join(dir, "prosody.cfg.lua")], dir);
	await daemon.listens(port);
	return {
		port,
		account,
		close: async () => {
			await daemon.end();
			fs.rmSync(dir, { recursive: true });
		},
	};
}

export class XmppPerson {
	readonly client: XmppClient;
	readonly got: { id: string; text: string }[] = [];
	/** How often another one was seen writing. */
	composing = 0;
	#said = 0;

	constructor(port: number, name: string, resource = "phone") {
		this.client = client({ service: `xmpp://127.0.0.1:${port}`, domain: "localhost", resource, username: name, password: "secret" });
		this.client.reconnect.stop();
		useScram(this.client);
		this.client.prependListener("element", (element) => void (element.name.endsWith("features") && withoutManagement(element)));
		this.client.on("error", () => undefined);
		this.client.on("stanza", (stanza) => {
			if (stanza.is("message") && stanza.getChild("composing")) this.composing++;
			const text = stanza.getChildText("body");
			if (stanza.is("message") && text && stanza.attrs.type !== "error") this.got.push({ id: stanza.attrs.id ?? "", text });
		});
	}

	async ready(): Promise<this> {
		await this.client.start();
		await this.client.send(xml("presence"));
		return this;
	}

	/** Resolves when the server has it. */
	async say(text: string, to = "holdfast@localhost", type = "chat"): Promise<void> {
		await this.client.send(xml("message", { to, type, id: `jo${this.#said++}` }, xml("body", {}, text)));
		await this.client.iqCaller.request(xml("iq", { type: "get", to: "localhost" }, xml("ping", { xmlns: "urn:xmpp:ping" })));
	}

	async close(): Promise<void> {
		await this.client.stop().catch(() => undefined);
	}
}
