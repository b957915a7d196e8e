import { expect, it } from "vitest";
import { placeFrom, placeName } from "../../../src/places/address.js";

const none = () => ({ places: {} });

it("an address names a namespace and an image, and a directory behind two slashes", () => {
	const parsed = (text: string) => placeFrom(text, none).options;
	expect(parsed("kubernetes://dev/debian:12")).toEqual({ namespace: "dev", image: "debian:12" });
	expect(parsed("kubernetes://dev/ghcr.io/me/tools:3//srv/app")).toEqual({ namespace: "dev", image: "ghcr.io/me/tools:3", workdir: "/srv/app" });
	expect(parsed("kubernetes:///debian:12")).toEqual({ image: "debian:12" });
	expect(placeName(placeFrom("kubernetes://dev/debian:12//srv", none))).toBe("kubernetes://dev/debian:12");
});

it.each([
	["kubernetes://dev", "the image is missing behind the namespace"],
	["kubernetes://Dev/debian", "a namespace is lower case letters"],
	["kubernetes://dev/Debian", "in lower case"],
	["k8s://dev/debian:12", "for a pod: kubernetes://dev/debian:12"],
])("%s is refused: %s", (text, words) => {
	expect(() => placeFrom(text, none)).toThrow(words);
});

it.each([
	[{ volumes: ["data"] }, "takes the name of a claim and a path"],
	[{ resources: { cpu: 1 } }, '"cpus" and "memory" are settings of their own'],
	[{ token: "x" }, "token"],
	[{ engine: "x" }, 'there is no key "engine", which is a key of docker'],
	[{ context: "-x" }, "cannot begin with a dash"],
])("settings %j are refused: %s", (more, words) => {
	expect(() => placeFrom({ kind: "kubernetes", image: "debian:12", ...more } as never, none)).toThrow(words);
});
