import { expect, it } from "vitest";
import type { ContainerInfo } from "../../../src/places/docker/api.js";
import { LABEL } from "../../../src/places/docker/body.js";
import { endOf } from "../../../src/places/docker/words.js";

const ended = (state: object, memory = 0) =>
	endOf({ State: state, HostConfig: { Memory: memory }, Config: { Labels: { [LABEL.lifetime]: "600" } } } as unknown as ContainerInfo);

it("says why a container does not run", () => {
	expect(ended({ ExitCode: 75 })).toBe("The container had stopped itself, after 10 min in which it was not used and nothing ran in it");
	expect(ended({ ExitCode: 137, OOMKilled: true }, 64 * 1024 ** 2)).toBe("The container had run out of memory (limit 64 MiB) and was ended");
	expect(ended({ ExitCode: 137, OOMKilled: true })).toBe("The container had run out of memory and was ended");
	expect(ended({ ExitCode: 0, OOMKilled: true })).toBe("The container had been stopped"); // something in it was killed once; that did not end it
	expect(ended({ ExitCode: 143 })).toBe("The container had been stopped");
	expect(ended({ ExitCode: 137 })).toBe("The container had been killed");
	expect(ended({ ExitCode: 2, Error: "odd" })).toBe("The main process of the container had ended with exit code 2 (odd)");
});
