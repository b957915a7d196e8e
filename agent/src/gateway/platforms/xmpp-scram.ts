/**
 * SCRAM (RFC 5802) with Node's own key derivation. That of the library is JavaScript and holds up the whole program for seconds each time that the
 * connection is made.
 */
import { createHash, createHmac, pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import type { XmppClient } from "@xmpp/client";

const derive = promisify(pbkdf2);
/** More would be an attempt to keep us busy. */
const MOST_ROUNDS = 1_000_000;

export function useScram({ saslFactory }: XmppClient): void {
	const entry = (name: string, hash: string) => ({
		name,
		mech: class extends Scram {
			override readonly name = name;
			override readonly hash = hash;
		},
	});
	saslFactory._mechs.unshift(entry("SCRAM-SHA-256", "sha256"), entry("SCRAM-SHA-1", "sha1"));
}

abstract class Scram {
	abstract readonly name: string;
	abstract readonly hash: string;
	readonly clientFirst = true;
	readonly #nonce = randomBytes(18).toString("base64");
	#challenge: string | undefined;

	challenge(text: string): this {
		this.#challenge = text;
		return this;
	}

	async response({ username, password }: { readonly username: string; readonly password: string }): Promise<string> {
		const first = `n=${username.replaceAll("=", "=3D").replaceAll(",", "=2C")},r=${this.#nonce}`;
		if (this.#challenge === undefined) return `n,,${first}`;
		const part = (name: string): string => new RegExp(`(?:^|,)${name}=([^,]*)`).exec(this.#challenge ?? "")?.[1] ?? "";
		const [nonce, salt, rounds] = [part("r"), Buffer.from(part("s"), "base64"), Number(part("i"))];
		if (!nonce.startsWith(this.#nonce) || !(rounds > 0 && rounds <= MOST_ROUNDS)) throw new Error("the XMPP server answered the login with nonsense");
		const size = createHash(this.hash).digest().length;
		const salted = await derive(password.normalize("NFKC"), salt, rounds, size, this.hash);
		const key = createHmac(this.hash, salted).update("Client Key").digest();
		const last = `c=biws,r=${nonce}`;
		const signed = createHmac(this.hash, createHash(this.hash).update(key).digest()).update(`${first},${this.#challenge},${last}`).digest();
		return `${last},p=${Buffer.from(key.map((byte, at) => byte ^ (signed[at] ?? 0))).toString("base64")}`;
	}
}
