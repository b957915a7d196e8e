import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseArguments } from "../../../src/places/docker/arguments.js";
import { containerName } from "../../../src/places/docker/body.js";
import { DEFAULT_IMAGE, type DockerAddress, type DockerOptions, dockerHost, parseDockerAddress } from "../../../src/places/docker/index.js";
import { dockerSettings } from "../../../src/places/docker/options.js";
import { checkVolumes, parseVolume } from "../../../src/places/volumes.js";
import { tempDir } from "../../support/home.js";

const SHA = `sha256:${"0123456789abcdef".repeat(4)}`;

describe("an address of a Docker place", () => {
	const good: readonly (readonly [string, DockerAddress])[] = [
		["docker://debian:12", { image: "debian:12" }],
		["docker://debian", { image: "debian" }],
		["DOCKER://debian", { image: "debian" }],
		["docker://", { image: DEFAULT_IMAGE }],
		["docker:////work", { image: DEFAULT_IMAGE, workdir: "/work" }],
		["docker://debian:12//srv/my app", { image: "debian:12", workdir: "/srv/my app" }],
		["docker://debian//", { image: "debian", workdir: "/" }],
		["docker://nikolaik/python-nodejs:python3.11-nodejs20", { image: DEFAULT_IMAGE }],
		[`docker://registry:5000/a/b:1@${SHA}`, { image: `registry:5000/a/b:1@${SHA}` }],
		["docker://localhost/a__b/c-d.e", { image: "localhost/a__b/c-d.e" }],
		["docker://[::1]:5000/a", { image: "[::1]:5000/a" }],
		[`docker://${SHA}`, { image: SHA }],
		["docker://container=my-db_1.x", { container: "my-db_1.x" }],
		["docker://container=0123abcdef//srv/data", { container: "0123abcdef", workdir: "/srv/data" }],
		["docker://container:1", { image: "container:1" }],
	];
	it.each(good)("%s is read", (text, address) => expect(parseDockerAddress(text)).toEqual(address));

	it.each([
		["debian:12", "does not begin with docker://"],
		["docker:debian", "does not begin with docker://"],
		["docker://Debian", 'names of images are in lower case, "Debian" is not'],
		["docker://a b", '"a b" cannot be a part of the name'],
		["docker://a/", "a part of the name of the image is empty"],
		["docker:///work", "a part of the name of the image is empty"],
		["docker://debian:", "is not a tag"],
		["docker://debian:1:2", "more than one tag"],
		["docker://debian@sha256:12", "is not a digest"],
		["docker://a@b@c", "more than one @"],
		["docker://-x.y/a", "is not a registry"],
		["docker://debian//a/../b", 'cannot contain ".."'],
		["docker://debian//a\nb", "NUL byte or a line end"],
		[`docker://${"a".repeat(1000)}`, "too long"],
		["docker://--privileged", "cannot be a part"],
	])("%j is refused: %s", (text, why) => {
		expect(() => parseDockerAddress(text)).toThrow(why);
		expect(() => parseDockerAddress(text)).toThrow("write docker://IMAGE, for example docker://debian:12");
	});

	it("is shown as it would be written", () => {
		const owner = { home: "/h", task: "t" };
		for (const text of ["docker://debian:12", "docker://debian//srv/x"]) expect(dockerHost(parseDockerAddress(text), owner).address).toBe(text);
	});
});

describe("options of a container", () => {
	it("have defaults, and sizes as people write them", () => {
		const usual = { image: DEFAULT_IMAGE, pull: "never", network: true, keep: false, lifetime: 300, volumes: [] };
		expect(dockerSettings({})).toMatchObject({ ...usual, profile: "hardened", pids: 256 });
		expect(Object.keys(dockerSettings({}).tmpfs)).toEqual(["/tmp", "/var/tmp", "/run"]);
		expect(dockerSettings({ profile: "plain" })).toMatchObject({ ...usual, pids: 4096, tmpfs: {} });
		expect(dockerSettings({ profile: "plain", pids: 64, tmpfs: { "/run": "1M", "/tmp": null } })).toMatchObject({ pids: 64, tmpfs: { "/run": 1024 ** 2 } });
		expect(dockerSettings({ lifetime: "task" })).toMatchObject({ lifetime: "task" });
		expect(dockerSettings({ container: "db", user: "postgres", workdir: "/srv" })).toMatchObject({ container: "db" });
		expect(dockerSettings({ memory: "64M", disk: 2_000_000, tmpfs: { "/tmp": "8M", "/run": null } })).toMatchObject({
			memory: 64 * 1024 ** 2,
			disk: 2_000_000,
			tmpfs: { "/tmp": 8 * 1024 ** 2, "/var/tmp": 256 * 1024 ** 2 },
		});
	});

	it.each([
		[{ imagge: "x" }, "imagge"],
		[{ image: "A" }, "lower case"],
		[{ memory: "lots" }, 'takes for example "512M"'],
		[{ memory: "1M" }, "at least 16 MiB"],
		[{ memory: Number.NaN }, "memory"],
		[{ memory: {} }, 'takes for example "512M"'],
		[{ pids: 0 }, "pids"],
		[{ cpus: -1 }, "cpus"],
		[{ pull: "always" }, "pull"],
		[{ network: "host" }, "network"],
		[{ lifetime: 0 }, "lifetime is 0, but must be at least 2"],
		[{ lifetime: "forever" }, 'or "task"'],
		[{ lifetime: true }, 'or "task"'],
		[{ profile: "privileged" }, 'profile is "privileged", but must be one of "hardened", "plain"'],
		[{ profile: true }, "profile"],
		[{ container: "" }, "the name of the container is missing"],
		[{ container: "a b" }, '"a b" is not a name or an id of a container'],
		[{ container: "../x" }, "is not a name or an id"],
		[{ container: 5 }, "container is 5, but must be a string"],
		[
			{ container: "db", image: "debian" },
			'"container" names a container that is there already, so "image" cannot be set for it; with "container" there are workdir, user, engine',
		],
		[{ container: "db", lifetime: "task", profile: "plain", keep: true }, '"lifetime", "profile", "keep" cannot be set'],
		[{ workdir: "work" }, "must be absolute"],
		[{ tmpfs: { tmp: "1M" } }, "must be absolute"],
		[{ user: "a b" }, 'takes "host", a name or an id'],
		[{ environment: { "A=B": "c" } }, 'cannot be empty or contain "="'],
		[{ environment: { A: "c\0" } }, "NUL"],
		[{ volumes: ["data:/x"] }, '"data" is not (names of volumes are not taken)'],
		[{ volumes: ["/only"] }, "a path here and a path in the container"],
		[{ volumes: ["/a:/b:/c:ro"] }, "too many colons"],
		[{ volumes: ["/a:/b:rx"] }, 'comes "ro" or "rw", not "rx"'],
		[{ volumes: ["/a:b"] }, 'must be absolute, "b" is not'],
		[{ volumes: ["/a:/"] }, "the root of the container cannot be replaced"],
		[{ volumes: ["/a:/x/../../y"] }, 'cannot contain ".."'],
		[{ volumes: [":"] }, "a path here and a path in the container"],
		[{ arguments: ["--privileged"] }, '"--privileged" is not taken; a container of an agent'],
		[{ arguments: ["--memory=1g"] }, 'use the option "memory"'],
		[{ arguments: ["--frobnicate"] }, '"--frobnicate" is not taken; there are --add-host,'],
		[{ arguments: ["constructor"] }, '"constructor" is not taken'],
		[{ arguments: ["--add-host"] }, "--add-host takes a value"],
		[{ arguments: ["--cap-add", "ALL"] }, "all of them are not given"],
		[{ arguments: ["--device", "/etc/passwd"] }, '--device takes for example "/dev/fuse"'],
	] as readonly (readonly [object, string])[])("%j is refused: %s", (options, why) => {
		expect(() => dockerHost(options as DockerOptions, { home: "/h", task: "t" })).toThrow(why);
	});

	it("take some flags of docker run", () => {
		expect(
			parseArguments([
				...["--add-host", "a:1.2.3.4", "--add-host=b:::1", "--device", "/dev/fuse", "--device=/dev/a:/dev/b:r", "--shm-size=1G"],
				...["--ulimit", "nofile=10:20", "--sysctl=a.b=c=d", "--gpus=all", "--hostname", "x", "--read-only", "--cap-add=NET_RAW", "--cpuset-cpus=0-1"],
			]),
		).toEqual({
			readOnly: true,
			container: { Hostname: "x" },
			host: {
				ExtraHosts: ["a:1.2.3.4", "b:::1"],
				Devices: [
					{ PathOnHost: "/dev/fuse", PathInContainer: "/dev/fuse", CgroupPermissions: "rwm" },
					{ PathOnHost: "/dev/a", PathInContainer: "/dev/b", CgroupPermissions: "r" },
				],
				ShmSize: 1024 ** 3,
				Ulimits: [{ Name: "nofile", Soft: 10, Hard: 20 }],
				Sysctls: { "a.b": "c=d" },
				DeviceRequests: [{ Driver: "", Count: -1, DeviceIDs: [], Capabilities: [["gpu"]], Options: {} }],
				CapAdd: ["NET_RAW"],
				CpusetCpus: "0-1",
			},
		});
	});

	it("must not show Holdfast's own files to processes inside, nor missing ones", () => {
		const dir = tempDir("volumes");
		const home = path.join(dir, "state/holdfast");
		fs.mkdirSync(home, { recursive: true });
		fs.mkdirSync(path.join(dir, "work"));
		fs.symlinkSync(path.join(dir, "state"), path.join(dir, "link"));
		const check = (source: string) => () => checkVolumes([parseVolume(`${source}:/there`)], home);
		expect(check(path.join(dir, "work"))).not.toThrow();
		for (const source of [dir, home, path.join(dir, "link")]) expect(check(source)).toThrow("Holdfast's own files are in it");
		expect(check(path.join(dir, "none"))).toThrow("there is no such directory here");
	});

	it("give each home and task a container of its own", () => {
		const names = [
			{ home: "/a", task: "b" },
			{ home: "/a", task: "c" },
			{ home: "/b", task: "b" },
			{ home: "/a\0b", task: "" },
			{ home: "/a", task: "\0b" },
		].map(containerName);
		expect(new Set(names).size).toBe(5);
		for (const name of names) expect(name).toMatch(/^holdfast-[0-9a-f]{16}$/);
	});
});
