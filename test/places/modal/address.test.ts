import { expect, it } from "vitest";
import { placeFrom, placeName } from "../../../src/places/address.js";
import { howToInstall } from "../../../src/places/modal/library.js";

const none = () => ({ places: {} });

it("an address names an image of a registry or of Modal, and a directory behind two slashes", () => {
	const parsed = (text: string) => placeFrom(text, none).options;
	expect(parsed("modal://debian:12")).toEqual({ image: "debian:12" });
	expect(parsed("modal://ghcr.io/me/tools:3//srv/app")).toEqual({ image: "ghcr.io/me/tools:3", workdir: "/srv/app" });
	expect(parsed("modal://im-0aBcDeFgHiJkLmNoPqRsTu")).toEqual({ image: "im-0aBcDeFgHiJkLmNoPqRsTu" });
	expect(placeName(placeFrom("modal://debian:12//srv", none))).toBe("modal://debian:12");
});

it.each([
	["modal://", "the name of the image is missing"],
	["modal://Debian", "in lower case"],
	["modal://debian//a/../b", 'cannot contain ".."'],
])("%s is refused: %s", (text, words) => {
	expect(() => placeFrom(text, none)).toThrow(words);
});

it.each([
	[{ volumes: ["data"] }, "takes the name of a volume of Modal and a path"],
	[{ time: 1441 }, "time"],
	[{ gpu: "two of them" }, 'takes for example "T4" or "H100:2"'],
	[{ secrets: ["A=b"] }, "is letters, digits, dashes"],
	[{ tokenId: "ak-1" }, "tokenId"],
	[{ namespace: "dev" }, 'there is no key "namespace", which is a key of kubernetes'],
])("settings %j are refused: %s", (more, words) => {
	expect(() => placeFrom({ kind: "modal", image: "debian:12", ...more } as never, none)).toThrow(words);
});

it("the command that installs the library goes beside the package, wherever that is", () => {
	expect(howToInstall("/usr/local/lib/node_modules/holdfast/dist/bin/x.js")).toBe("run: npm install -g modal@0.11.1");
	expect(howToInstall("/srv/app/node_modules/holdfast/dist/lib/x.js")).toBe("run in /srv/app: npm install modal@0.11.1");
	expect(howToInstall("/src/holdfast/dist/bin/x.js")).toBe("run: npm install modal@0.11.1");
});
