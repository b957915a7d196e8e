import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { loadConfig, type Places } from "../../src/base/config.js";
import { isContained, isPlaceKey, placeFrom, placeKey, placeName } from "../../src/places/address.js";
import { recallPlace, rememberedPlaces, rememberPlace } from "../../src/places/remember.js";
import { tempDir } from "../support/home.js";

const PLACES: Places = {
	"build-box": { type: "ssh", host: "10.0.0.7", user: "ci", port: 2222, identityFile: "~/.ssh/ci", options: { ProxyJump: "gate" }, dir: "/srv/build" },
	py: { type: "docker", image: "python:3.12", memory: "512M", environment: { API_TOKEN: "hush" } },
	typo: { type: "ssh", hots: "x" },
};
const from = (text: string) => placeFrom(text, () => ({ places: PLACES }));
const nobody = () => {
	throw new Error("the configuration was read");
};

test("places of this machine are understood without any configuration", () => {
	expect(placeFrom("local", nobody)).toEqual({ kind: "local" });
	expect(placeFrom("local:", nobody)).toEqual({ kind: "local" });
	expect(placeFrom("local:/srv/x", nobody)).toEqual({ kind: "local", directory: "/srv/x" });
	expect(placeFrom("local+sandbox", nobody)).toEqual({ kind: "sandbox" });
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

test("config.json: names that could be taken for something else, and kinds that there are not, are refused", () => {
	const dir = tempDir("config");
	const read = (places: unknown) => {
		fs.mkdirSync(path.join(dir, "holdfast"), { recursive: true });
		fs.writeFileSync(path.join(dir, "holdfast", "config.json"), JSON.stringify({ places }));
		return loadConfig({ XDG_CONFIG_HOME: dir }).places;
	};
	expect(read({ box: { type: "ssh", host: "h" } })).toEqual({ box: { type: "ssh", host: "h" } });
	for (const places of [{ local: { type: "ssh", host: "h" } }, { "ssh://x": { type: "ssh" } }, { x: { type: "moon" } }, { x: {} }, { "": { type: "ssh" } }, []])
		expect(() => read(places), JSON.stringify(places)).toThrow(/cannot be used/);
});

test("a container counts as a sandbox only by what it mounts", () => {
	const home = os.homedir();
	const contained = (...volumes: string[]) => isContained({ kind: "docker", name: "box", options: { image: "x", volumes } });
	expect(contained()).toBe(true);
	expect(contained("/srv/project:/work", "/srv/data:/data:ro")).toBe(true);
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
		expect(contained("/srv/project:/work", `${source}:/mnt:ro`), source).toBe(false);
	expect(isContained({ kind: "sandbox" })).toBe(true);
	expect(isContained({ kind: "local" })).toBe(false);
	expect(isContained({ kind: "ssh", name: "box", options: { host: "box" } })).toBe(false);
});
