import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { engineAddress } from "../../../src/places/docker/engine-address.js";
import { tempDir } from "../../support/home.js";

/** A directory as DOCKER_CONFIG names it, with contexts in it. */
function configDir(current: string | undefined, contexts: Record<string, { host?: unknown; skip?: boolean; files?: string[]; raw?: string }> = {}): string {
	const dir = tempDir("docker-config");
	if (current !== undefined) fs.writeFileSync(path.join(dir, "config.json"), JSON.stringify({ currentContext: current }));
	for (const [name, { host, skip, files = [], raw }] of Object.entries(contexts)) {
		const id = createHash("sha256").update(name).digest("hex");
		const meta = path.join(dir, "contexts/meta", id);
		fs.mkdirSync(meta, { recursive: true });
		const endpoint = { Host: host, ...(skip === undefined ? {} : { SkipTLSVerify: skip }) };
		fs.writeFileSync(path.join(meta, "meta.json"), raw ?? JSON.stringify({ Name: name, Metadata: {}, Endpoints: { docker: endpoint } }));
		const tls = path.join(dir, "contexts/tls", id, "docker");
		if (files.length > 0) fs.mkdirSync(tls, { recursive: true });
		for (const file of files) fs.writeFileSync(path.join(tls, file), file);
	}
	return dir;
}

const at = (env: NodeJS.ProcessEnv, address?: string) => engineAddress(address, { HOME: "/nonexistent", ...env });

describe("the engine is", () => {
	it("the place's own, else that of DOCKER_HOST, else that of the context, else the usual socket", () => {
		const DOCKER_CONFIG = configDir("one", { one: { host: "tcp://one:2375" }, two: { host: "unix:///two.sock" } });
		expect(at({ DOCKER_CONFIG, DOCKER_HOST: "tcp://host:1" }, "unix:///own.sock").where).toBe("unix:///own.sock");
		expect(at({ DOCKER_CONFIG, DOCKER_HOST: "tcp://host:1", DOCKER_CONTEXT: "two" }).where).toBe("tcp://host:1");
		expect(at({ DOCKER_CONFIG, DOCKER_CONTEXT: "two" })).toMatchObject({ where: "unix:///two.sock", way: { kind: "unix", socket: "/two.sock" } });
		expect(at({ DOCKER_CONFIG })).toEqual({
			where: "tcp://one:2375",
			other: 'set DOCKER_HOST (the Docker context "one" is used)',
			way: { kind: "tcp", host: "one", port: 2375 },
		});
		expect(at({ DOCKER_CONFIG, DOCKER_CONTEXT: "default" }).where).toBe("unix:///var/run/docker.sock");
		expect(at({ DOCKER_CONFIG: configDir("default") }).where).toBe("unix:///var/run/docker.sock");
		expect(at({ DOCKER_CONFIG: configDir(undefined) }).where).toBe("unix:///var/run/docker.sock");
	});

	it("not decided by a config.json that cannot be understood", () => {
		for (const text of ["{", "[]", '{"currentContext": 5}', ""]) {
			const dir = configDir(undefined);
			fs.writeFileSync(path.join(dir, "config.json"), text);
			expect(at({ DOCKER_CONFIG: dir }).where).toBe("unix:///var/run/docker.sock");
		}
	});

	it("not another one when the context is unknown or names none", () => {
		const DOCKER_CONFIG = configDir("gone", { bad: { raw: "{" }, none: { host: 5 }, odd: { host: "npipe:////./pipe/docker" } });
		expect(() => at({ DOCKER_CONFIG })).toThrow(
			/the Docker context "gone" \(of \S+config\.json\) cannot be read \(ENOENT.*\); see docker context ls, or set DOCKER_HOST/,
		);
		expect(() => at({ DOCKER_CONFIG, DOCKER_CONTEXT: "../../x" })).toThrow('the Docker context "../../x" (of DOCKER_CONTEXT) cannot be read');
		for (const name of ["bad", "none"]) expect(() => at({ DOCKER_CONFIG, DOCKER_CONTEXT: name })).toThrow("names no Docker engine");
		expect(() => at({ DOCKER_CONFIG, DOCKER_CONTEXT: "odd" })).toThrow("is not an engine");
	});

	it("reached over ssh as the person's configuration says, at another socket if the address has a path", () => {
		expect(at({}, "ssh://box")).toMatchObject({ where: "ssh://box", way: { kind: "ssh", machine: { host: "box" } } });
		expect(at({ DOCKER_HOST: "ssh://me@box:2222/run/user/1000/docker.sock" })).toEqual({
			where: "ssh://me@box:2222/run/user/1000/docker.sock",
			other: "set DOCKER_HOST",
			way: { kind: "ssh", machine: { user: "me", host: "box", port: 2222 }, socket: "/run/user/1000/docker.sock" },
		});
		expect(() => at({}, "ssh://me:secret@box")).toThrow(/^(?!.*secret).*password cannot be part of it/);
		expect(() => at({}, "ssh://")).toThrow("the host is missing");
		expect(() => at({}, "ssh://-oProxyCommand=x")).toThrow("a host cannot begin with a dash");
	});

	it("reached with TLS when the environment, the scheme, the port or the context asks for it", () => {
		const way = (env: NodeJS.ProcessEnv, address?: string) => at(env, address).way;
		expect(way({}, "tcp://h:2375")).toEqual({ kind: "tcp", host: "h", port: 2375 });
		expect(way({}, "h:99")).toEqual({ kind: "tcp", host: "h", port: 99 });
		expect(way({}, "tcp://[::1]:2375")).toEqual({ kind: "tcp", host: "::1", port: 2375 });
		for (const address of ["tcp://h:2376", "https://h:2376", "https://h"]) expect(way({}, address)).toEqual({ kind: "tcp", host: "h", port: 2376, tls: {} });
		const certs = tempDir("certs");
		for (const name of ["ca", "cert", "key"]) fs.writeFileSync(path.join(certs, `${name}.pem`), name);
		const tls = { ca: Buffer.from("ca"), cert: Buffer.from("cert"), key: Buffer.from("key") };
		expect(way({ DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: certs }, "tcp://h:1")).toEqual({ kind: "tcp", host: "h", port: 1, tls });
		expect(way({ DOCKER_TLS_VERIFY: "1", DOCKER_CONFIG: certs }, "tcp://h:1")).toEqual({ kind: "tcp", host: "h", port: 1, tls });
		expect(way({ DOCKER_TLS_VERIFY: "", DOCKER_CERT_PATH: certs }, "tcp://h:1")).toEqual({ kind: "tcp", host: "h", port: 1 });
		fs.rmSync(path.join(certs, "key.pem"));
		expect(() => way({ DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: certs }, "tcp://h:1")).toThrow(
			/TLS files .* cannot be read: ENOENT.*key\.pem.*DOCKER_CERT_PATH/,
		);
		const DOCKER_CONFIG = configDir("safe", {
			safe: { host: "tcp://h:1", files: ["ca.pem"] },
			lax: { host: "tcp://h:1", skip: true },
			plain: { host: "tcp://h:1", skip: false },
		});
		expect(way({ DOCKER_CONFIG })).toEqual({ kind: "tcp", host: "h", port: 1, tls: { ca: Buffer.from("ca.pem") } });
		expect(way({ DOCKER_CONFIG, DOCKER_CONTEXT: "lax" })).toEqual({ kind: "tcp", host: "h", port: 1, tls: { rejectUnauthorized: false } });
		expect(way({ DOCKER_CONFIG, DOCKER_CONTEXT: "plain", DOCKER_TLS_VERIFY: "1" })).toEqual({ kind: "tcp", host: "h", port: 1 });
	});

	it("refused when the address is none, and a password in it is not repeated", () => {
		for (const wrong of ["ftp://x", "tcp://", "http://[", "tcp://h:99999", "tcp://h/prefix", "tcp://u:secret@h:1", "unix:/x", "fd://"])
			expect(() => at({}, wrong), wrong).toThrow(
				/^(?!.*secret).* is not an engine; write unix:\/\/\/var\/run\/docker\.sock, tcp:\/\/HOST:PORT or ssh:\/\/USER@HOST$/,
			);
	});
});
