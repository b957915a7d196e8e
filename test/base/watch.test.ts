import { expect, test } from "vitest";
import { DirectoryWatch } from "../../src/base/watch.js";
import { tempDir } from "../support/home.js";

test("a home whose file system gives no events is polled, and no other one", async () => {
	const [silent, usual] = [new DirectoryWatch(), new DirectoryWatch()];
	await silent.probe("/proc/self/fdinfo"); // nothing can be written there
	await usual.probe(tempDir("home"));
	expect([silent.mode, usual.mode]).toEqual(["poll", "inotify"]);
});
