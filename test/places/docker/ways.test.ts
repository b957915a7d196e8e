/** A real engine by every way there is to one: its socket (all other tests), TCP with TLS, ssh. */
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { buffer, text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { containers } from "../../../src/places/docker/api.js";
import { openEngine } from "../../../src/places/docker/engine.js";
import { type DockerOptions, dockerHost, listContainers } from "../../../src/places/docker/index.js";
import { makeCertificates } from "../../support/certificates.js";
import { FULL_IMAGE, noEngine, overTls, sharedEngine } from "../../support/dockerd.js";
import { atEnd, tempDir } from "../../support/home.js";
import { noSshd, startSshd } from "../../support/sshd.js";

const why = noEngine();

function setEnvironment(values: Record<string, string | undefined>): void {
	for (const [name, value] of Object.entries(values)) {
		const before = process.env[name];
		const set = (to: string | undefined) => {
			if (to === undefined) delete process.env[name];
			else process.env[name] = to;
		};
		set(value);
		atEnd(() => set(before));
	}
}

/** Bytes both ways, the end of input, an exit code, and a list, over whatever leads to the shared engine. */
async function works(options: DockerOptions): Promise<void> {
	const { docker } = await sharedEngine();
	const owner = { home: tempDir("home"), task: "way" };
	const host = dockerHost({ image: FULL_IMAGE, ...options }, owner);
	const { instance } = await host.start();
	const id = instance?.split(" ")[0] as string;
	atEnd(() =>
		docker
			.getContainer(id)
			.remove({ force: true, v: true })
			.catch(() => {}),
	);
	const bytes = randomBytes(1_000_000);
	const stream = await host.open("cat; echo x >&2; exit 3");
	stream.input.end(bytes);
	const back = await buffer(stream.output);
	expect(createHash("sha256").update(back).digest("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
	expect(await stream.ended).toBe("the command in the container ended with exit code 3; it said: x");
	const again = await host.open("echo again"); // its input stays open: behind TLS its end may cost output that comes at that moment
	expect(await text(again.output)).toBe("again\n");
	expect(await listContainers({ home: owner.home, ...(options.engine && { engine: options.engine }) })).toEqual([expect.objectContaining({ id })]);
	expect(await host.stop()).toEqual([expect.stringContaining("was removed")]);
}

describe.skipIf(why)(`an engine behind TCP with TLS${why ? `: ${why}` : ""}`, () => {
	it("is used with the certificates of DOCKER_CERT_PATH", async () => {
		const { address, certificates: certs } = overTls(await sharedEngine());
		setEnvironment({ DOCKER_HOST: address, DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: certs });
		await works({});
	});

	it("is used with those of a Docker context", async () => {
		const { address, certificates: certs } = overTls(await sharedEngine());
		const dir = tempDir("docker-config");
		const id = createHash("sha256").update("safe").digest("hex");
		for (const [where, files] of [
			[`contexts/meta/${id}`, { "meta.json": JSON.stringify({ Name: "safe", Endpoints: { docker: { Host: address } } }) }],
			[`contexts/tls/${id}/docker`, Object.fromEntries(["ca.pem", "cert.pem", "key.pem"].map((name) => [name, fs.readFileSync(path.join(certs, name))]))],
		] as const) {
			fs.mkdirSync(path.join(dir, where), { recursive: true });
			for (const [name, content] of Object.entries(files)) fs.writeFileSync(path.join(dir, where, name), content);
		}
		setEnvironment({ DOCKER_HOST: undefined, DOCKER_CONFIG: dir, DOCKER_CONTEXT: "safe" });
		await works({});
	});

	it("that does not fit is explained: no TLS here or there, an unknown certificate, none of ours", async () => {
		const { address, certificates: certs } = overTls(await sharedEngine());
		const fails = async (env: NodeJS.ProcessEnv, at = address): Promise<string> => {
			const engine = openEngine(at, { env });
			return await engine.call("asking", containers.inspect("x")).then(String, (error: Error) => error.message);
		};
		const own = { DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: certs };
		const other = tempDir("certs");
		makeCertificates(other);
		expect(await fails({ DOCKER_TLS_VERIFY: "1", DOCKER_CONFIG: "/none" })).toMatch(
			/^asking: the certificate of the Docker engine at tcp:\S+ is not accepted \(.*\); DOCKER_CERT_PATH has to name the directory with its ca\.pem$/,
		);
		expect(await fails({ ...own, DOCKER_CERT_PATH: other })).toMatch(/is not accepted/);
		const caOnly = tempDir("ca");
		fs.copyFileSync(path.join(certs, "ca.pem"), path.join(caOnly, "ca.pem"));
		expect(await fails({ DOCKER_TLS_VERIFY: "1", DOCKER_CONFIG: caOnly })).toMatch(/do not agree on TLS|broke/);

		const plain = http.createServer((_request, response) => response.end());
		const secure = https.createServer({ cert: fs.readFileSync(path.join(certs, "server-cert.pem")), key: fs.readFileSync(path.join(certs, "server-key.pem")) });
		for (const server of [plain, secure]) {
			await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
			atEnd(() => server.close());
		}
		const at = (server: http.Server) => `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
		expect(await fails(own, at(plain))).toMatch(/the Docker engine at tcp:\S+ does not speak TLS \(.*\); unset DOCKER_TLS_VERIFY, or correct the port/);
		expect(await fails({})).toMatch(/wants TLS; set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH/);
		expect(await fails({}, at(secure))).toMatch(/broke|is not a Docker engine/);
	});
});

const noSsh = why ?? noSshd ?? (fs.existsSync("/usr/bin/docker") || fs.existsSync("/usr/local/bin/docker") ? undefined : "the docker command is not installed");

describe.skipIf(noSsh)(`an engine behind ssh${noSsh ? `: ${noSsh}` : ""}`, () => {
	/** An ssh whose own configuration is the test's: as if it were the person's ~/.ssh/config. */
	async function useConfiguration(): Promise<void> {
		const sshd = await startSshd();
		const bin = tempDir("bin");
		const config = path.join(bin, "ssh_config");
		fs.writeFileSync(config, `Host box\n  HostName 127.0.0.1\n  Port ${sshd.port}\n  User root\n${fs.readFileSync(path.join(sshd.dir, "ssh_config"), "utf8")}`);
		fs.writeFileSync(path.join(bin, "ssh"), `#!/bin/sh\nexec /usr/bin/ssh -F '${config}' "$@"\n`, { mode: 0o755 });
		setEnvironment({ PATH: `${bin}:${process.env.PATH}` });
	}

	it("is used with the person's ssh configuration, and the program ends without waiting for the connection", async () => {
		const { dir } = await sharedEngine();
		await useConfiguration();
		await works({ engine: `ssh://box${dir}/docker.sock` });
	});

	it("that is not there, or not reachable, is explained", async () => {
		await useConfiguration();
		const home = tempDir("home");
		const fails = async (address: string): Promise<string> =>
			await openEngine(address, { home })
				.call("asking", containers.inspect("x"))
				.then(String, (error: Error) => error.message);
		expect(await fails("ssh://box/nowhere/docker.sock")).toMatch(
			/^asking: the Docker engine of ssh:\/\/box cannot be reached: the command there ended with exit code 1 and said ".*\/nowhere\/docker\.sock/,
		);
		expect(await fails("ssh://nobody@127.0.0.1:1")).toMatch(/^asking: cannot reach ssh:\/\/nobody@127\.0\.0\.1:1/);
	});
});
