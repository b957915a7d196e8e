import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { loadConfig, type Places, type SandboxOptions, sandboxSchema } from "../../src/base/config.js";
import { boundaryOf, isPlaceKey, type PlaceAsked, placeFrom, placeKey, placeName, wishText } from "../../src/places/address.js";
import { kinds } from "../../src/places/kinds.js";
import { recallPlace, rememberedPlaces, rememberPlace } from "../../src/places/remember.js";
import { tempDir } from "../support/home.js";

const PLACES: Places = {
	"build-box": { type: "ssh", host: "10.0.0.7", user: "ci", port: 2222, identityFile: "~/.ssh/ci", options: { ProxyJump: "gate" }, dir: "/srv/build" },
	py: { type: "docker", image: "python:3.12", memory: "512M", environment: { API_TOKEN: "hush" } },
	typo: { type: "ssh", hots: "x" },
};
const from = (given: PlaceAsked) => placeFrom(given, () => ({ places: PLACES }));
const nobody = () => {
	throw new Error("the configuration was read");
};

test("places of this machine are understood without any configuration", () => {
	expect(placeFrom("local", nobody)).toEqual({ kind: "local", name: "local", options: {} });
	expect(placeFrom("local:", nobody)).toEqual({ kind: "local", name: "local", options: {} });
	expect(placeFrom("local:/srv/x", nobody)).toEqual({ kind: "local", name: "local", options: { directory: "/srv/x" } });
	expect(placeFrom("local+sandbox", nobody)).toEqual({ kind: "sandbox", name: "local+sandbox", options: {} });
});

test("addresses and names of other places become plain data that survives JSON", () => {
	const ssh = from("ssh://me@box:2200/srv");
	expect(ssh).toEqual({ kind: "ssh", name: "ssh://me@box:2200/srv", options: { user: "me", host: "box", port: 2200, dir: "/srv" } });
	expect(from("docker://python:3.12")).toMatchObject({ kind: "docker", options: { image: "python:3.12" } });
	const { type: _, ...options } = PLACES["build-box"] as Places[string];
	expect(from("build-box")).toEqual({ kind: "ssh", name: "build-box", options });
	for (const text of ["local:/x", "ssh://box", "docker://debian", "build-box", "py"]) expect(JSON.parse(JSON.stringify(from(text)))).toEqual(from(text));
});

test("what is not understood is an error that lists what there is", () => {
	for (const text of ["moon", "", "Local", "local+", "local:relative", "local:", "podman://x", "__proto__", "constructor", "toString", "x".repeat(10_000)]) {
		if (text === "local:") continue;
		expect(() => from(text), text).toThrow(expect.objectContaining({ code: "INVALID" }));
	}
	expect(() => from("moon")).toThrow(/there is no place "moon"; there are local, .*ssh:\/\/.*docker:\/\/.* build-box, py, typo/);
	expect(() => placeFrom("moon", () => ({ places: {} }))).toThrow(/which has none; for a machine of that name: ssh:\/\/moon$/);
	for (const text of ["me@moon:22", "ssh:me@moon:22", "ssh:/me@moon:22"]) expect(() => from(text), text).toThrow(/: ssh:\/\/me@moon:22$/);
	for (const text of ["-oProxyCommand=x", "http://moon", "a b", ""]) expect(() => from(text), text).not.toThrow(/for a machine/);
	for (const text of ["ssh://", "ssh://-oProxyCommand=x", "ssh://a b", "ssh://me:secret@box", "docker://UPPER"]) expect(() => from(text), text).toThrow(/\w/);
	expect(() => from("ssh://me:secret@box")).not.toThrow(/secret/);
	expect(() => from("typo")).toThrow(/places\.typo in config\.json cannot be used.*hots/);
});

test("names say who and where, and nothing secret", () => {
	const name = (text: string) => placeName(from(text));
	expect(["local", "local:/x", "local+sandbox"].map(name)).toEqual(["local", "local", "local+sandbox"]);
	expect(name("ssh://me@box:2200/srv")).toBe("ssh://me@box:2200");
	expect(name("build-box")).toBe("ssh://ci@10.0.0.7:2222");
	expect(name("py")).toBe("docker://python:3.12");
	expect(name("docker://")).toMatch(/^docker:\/\/\w+/);
});

test("one key for a machine, whatever task and directory; one for each task's container", () => {
	const key = (text: string, task: string) => placeKey(from(text), task);
	expect([key("local", "a"), key("local:/x", "a"), key("local+sandbox", "a")]).toEqual(["local", "local", "local+sandbox"]);
	expect(key("ssh://me@box", "a")).toBe(key("ssh://me@box/elsewhere", "b"));
	expect(key("ssh://me@box", "a")).not.toBe(key("ssh://you@box", "a"));
	expect(key("docker://debian:12", "a")).not.toBe(key("docker://debian:12", "b"));
	expect(key("docker://debian:12", "a")).not.toBe(key("docker://debian:13", "a"));
	expect(isPlaceKey(key("ssh://me@box", "a")) && isPlaceKey(key("py", "a"))).toBe(true);
	const one = { kind: "ssh", name: "x", options: { host: "h", user: "u" } } as const;
	expect(placeKey(one, "a")).toBe(placeKey({ ...one, options: { user: "u", host: "h" } }, "a")); // in whatever order it was written
});

test("places are remembered in the home, for their owner alone, and found again by key and by task", () => {
	const home = { root: tempDir("home") };
	expect(rememberPlace(home, from("local"), "a")).toBe("local");
	expect(fs.existsSync(path.join(home.root, "places"))).toBe(false);
	const key = rememberPlace(home, from("py"), "a");
	expect(rememberPlace(home, from("py"), "a")).toBe(key);
	const other = rememberPlace(home, from("ssh://me@box"), "b");
	expect(recallPlace(home, key)).toEqual({ key, task: "a", wish: from("py") });
	expect(rememberedPlaces(home, "a").map((place) => place.key)).toEqual([key]);
	expect(fs.statSync(path.join(home.root, "places", `${key}.json`)).mode & 0o777).toBe(0o600);
	expect(recallPlace(home, "ssh-000000000000")).toBeUndefined();
	expect(() => recallPlace(home, "../../etc/passwd")).toThrow(/not the key/);
	fs.writeFileSync(path.join(home.root, "places", `${other}.json`), '{"v":1,"task":"b","wi');
	expect(() => recallPlace(home, other)).toThrow(/cannot be read/);
	expect(rememberedPlaces(home)).toHaveLength(1);
});

test("config.json: names that could be taken for something else, and entries without a kind, are refused", () => {
	const dir = tempDir("config");
	const read = (places: unknown) => {
		fs.mkdirSync(path.join(dir, "holdfast"), { recursive: true });
		fs.writeFileSync(path.join(dir, "holdfast", "config.json"), JSON.stringify({ places }));
		return loadConfig({ XDG_CONFIG_HOME: dir }).places;
	};
	for (const word of ["type", "kind"]) expect(read({ box: { [word]: "ssh", host: "h" } })).toEqual({ box: { [word]: "ssh", host: "h" } });
	for (const places of [
		{ local: { type: "ssh", host: "h" } },
		{ "ssh://x": { type: "ssh" } },
		{ x: {} },
		{ x: { kind: "ssh", type: "ssh" } },
		{ "": { type: "ssh" } },
		[],
	])
		expect(() => read(places), JSON.stringify(places)).toThrow(/cannot be used/);
});

test("a place as an object: the same wish, name and key as its address; what is kept is a copy", () => {
	const pairs: readonly (readonly [string, PlaceAsked & object & Record<string, unknown>])[] = [
		["local", { kind: "local" }],
		["local:/srv/x", { kind: "local", directory: "/srv/x" }],
		["local+sandbox", { kind: "sandbox" }],
		["ssh://me@box:2200/srv", { dir: "/srv", kind: "ssh", host: "box", port: 2200, user: "me" }],
		["docker://debian:12", { kind: "docker", image: "debian:12" }],
		["docker://", { kind: "docker" }],
		["docker://debian:12//srv", { kind: "docker", image: "debian:12", network: true, workdir: "/work", pids: 256, keep: undefined }],
	];
	for (const [address, object] of pairs) {
		expect([address, placeName(from(object))]).toEqual([address, placeName(from(address))]);
		expect([address, placeKey(from(object), "a")]).toEqual([address, placeKey(from(address), "a")]);
	}
	const { type: _, ...entry } = PLACES.py as Places[string];
	expect(placeKey(from({ ...entry, kind: "docker" }), "a")).toBe(placeKey(from("py"), "a"));
	expect(placeKey(from({ kind: "docker", image: "debian:12", pids: 300 } as PlaceAsked), "a")).not.toBe(placeKey(from("docker://debian:12"), "a"));
	expect(wishText(from({ kind: "ssh", host: "h", user: "u" } as PlaceAsked))).toBe(wishText(from({ user: "u", host: "h", kind: "ssh" } as PlaceAsked)));
	const mine = { kind: "ssh", host: "h", options: { ProxyJump: "gate" } };
	const wish = from(mine);
	mine.options.ProxyJump = "other";
	expect(wish.options).toEqual({ host: "h", options: { ProxyJump: "gate" } });
});

test("objects that are no place are refused, with the key, and with whose key it is", () => {
	const circle: Record<string, unknown> = { kind: "docker" };
	circle.image = circle;
	const refused = (given: unknown): string => {
		let message = "";
		expect(() => {
			try {
				from(given as PlaceAsked);
			} catch (error) {
				message = (error as Error).message;
				throw error;
			}
		}, message).toThrow(expect.objectContaining({ code: "INVALID" }));
		return message;
	};
	const names = kinds().map(({ name }) => name);
	expect(names.slice(0, 4)).toEqual(["local", "sandbox", "ssh", "docker"]);
	for (const given of [null, undefined, 7, true, [], ["ssh"], {}, { kind: 7 }, { kind: null }, { type: "ssh", host: "h" }, () => "local"])
		expect(refused(given)).toContain(`a place is an address, a name from config.json, or an object with "kind" (${names.join(", ")})`);
	expect(refused(circle)).toContain("the settings of a place are what JSON can hold");
	expect(refused({ kind: "moon" })).toBe(`there is no kind of place "moon"; there are ${names.join(", ")}`);
	for (const kind of ["__proto__", "constructor", "toString", "", "Docker", "local+sandbox"]) expect(refused({ kind })).toMatch(/^there is no kind of place/);
	expect(refused({ kind: "docker", identityFile: "~/.ssh/x" })).toMatch(/^docker: there is no key "identityFile", which is a key of ssh; there are image, /);
	expect(refused({ kind: "ssh", host: "h", volumes: [], network: true })).toMatch(
		/there is no key "volumes", which is a key of docker, [^"]* and \w+, nor "network", which is a key of sandbox, docker[^"]* and \w+; there are host, /,
	);
	expect(refused({ kind: "docker", imgae: "x" })).toMatch(/^docker: there is no key "imgae"; there are image, /);
	expect(refused(JSON.parse('{"kind":"docker","__proto__":{"image":"x"}}'))).toMatch(/there is no key "__proto__"/);
	expect(refused({ kind: "docker", image: 7 })).toMatch(/^docker: image is 7, but must be a string/);
	expect(refused({ kind: "ssh" })).toMatch(/^ssh: host is missing/);
	expect(refused({ kind: "local", directory: "here" })).toMatch(/absolute/);
	expect(refused({ kind: "docker", image: "x", environment: { A: "y".repeat(2 ** 20) } })).toMatch(/more than a megabyte/);
	expect(refused({ kind: "docker", environment: { TOKEN: ["hush"] } })).not.toMatch(/hush/);
});

test("a boundary is computed from the settings", () => {
	const home = os.homedir();
	const config =
		(sandbox: SandboxOptions = {}) =>
		() => ({ ...loadConfig({ XDG_CONFIG_HOME: "/nowhere" }), sandbox: sandboxSchema.parse(sandbox) });
	const contains = (place: object, sandbox?: SandboxOptions) => boundaryOf(from(place as PlaceAsked), config(sandbox)).contains;
	const container = (...volumes: string[]) => contains({ kind: "docker", image: "x", volumes });
	expect(container()).toBe(true);
	expect(container("/srv/project:/work", "/srv/data:/data:ro")).toBe(true);
	for (const source of [
		home,
		path.dirname(home),
		"/",
		`${home}/.ssh`,
		`${home}/.config/x`,
		"/etc",
		"/var/run/docker.sock",
		"/run/podman/podman.sock",
		"/srv/engine.sock",
	])
		expect(container("/srv/project:/work", `${source}:/mnt:ro`), source).toBe(false);
	expect(container(`${home}/project:/work`)).toBe(true);
	expect(contains({ kind: "sandbox" })).toBe(true);
	expect(contains({ kind: "sandbox", read: ["~/.nvm", "/srv"], write: ["/srv/cache", "~/other"] })).toBe(true);
	for (const options of [{ write: ["~/.ssh"] }, { write: ["/etc/cron.d"] }, { read: ["/var/run/docker.sock"] }]) {
		expect(contains({ kind: "sandbox", ...options }), JSON.stringify(options)).toBe(false);
		expect(contains({ kind: "sandbox" }, options), JSON.stringify(options)).toBe(false); // as config.json has it
	}
	expect(contains({ kind: "local" })).toBe(false);
	expect(contains({ kind: "ssh", host: "box" })).toBe(false);
});
