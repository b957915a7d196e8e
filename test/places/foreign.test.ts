import { expect, test } from "vitest";
import { directoryThere, foreignPath } from "../../src/places/foreign.js";

const HERE = { home: "/home/ada", user: "ada", cwd: "/srv/project" };

test("paths of this machine, of macOS and of Windows are known by their looks", () => {
	const looks = (file: string) => foreignPath(file, HERE);
	for (const file of ["C:\\Users\\ada", "C:/Users", "d:\\", "C:", "\\\\server\\share", "/mnt/c/Users/ada"]) expect(looks(file), file).toMatch(/Windows/);
	for (const file of ["/Users/ada", "/Users/ada/x", "/Users//ada/"]) expect(looks(file), file).toMatch(/macOS/);
	for (const file of ["/srv/project", "/srv/project/", "/srv/project/src", "/srv/./project"]) expect(looks(file), file).toMatch(/started in/);
	for (const file of ["/home/ada", "/home/ada/code", "/tmp/../home/ada"]) expect(looks(file), file).toMatch(/home directory of the machine/);
	for (const file of ["/srv", "/srv/projects", "/home/adam", "/home", "/", "/tmp", ".", "src", "~/x", "/Users", "/opt/C:/x", ""])
		expect(looks(file), file).toBeUndefined();
});

test("a home or directory of / makes nothing foreign; a user without a name neither", () => {
	const root = { home: "/", user: "", cwd: "/" };
	for (const file of ["/", "/srv", "/home/x", "/home/"]) expect(foreignPath(file, root), file).toBeUndefined();
	expect(foreignPath("/root/x", { home: "/root", user: "root", cwd: "/" })).toMatch(/home/);
});

test("one that is not there gives way to the default, with a note; one that is there is used; others are taken as they are", async () => {
	const asked: string[] = [];
	const there = {
		place: "ssh://me@box",
		cwd: "/home/me",
		here: HERE,
		exists: async (dir: string) => {
			asked.push(dir);
			return dir === "/home/ada/shared";
		},
	};
	expect(await directoryThere("/srv/project/src", there)).toEqual({
		dir: "/home/me",
		note: expect.stringMatching(/^\/srv\/project\/src looks like .* does not exist on ssh:\/\/me@box, so \/home\/me was used instead/),
	});
	expect(await directoryThere("C:\\work", there)).toMatchObject({ dir: "/home/me", note: expect.stringContaining("Windows") });
	expect(await directoryThere("/home/ada/shared", there)).toEqual({ dir: "/home/ada/shared" });
	expect(asked).toEqual(["/srv/project/src", "C:\\work", "/home/ada/shared"]);
	expect(await directoryThere("/nowhere", there)).toEqual({ dir: "/nowhere" });
	expect(await directoryThere(undefined, there)).toEqual({ dir: "/home/me" });
	expect(await directoryThere(".", there)).toEqual({ dir: "/home/me" });
	expect(await directoryThere("sub/../x", there)).toEqual({ dir: "/home/me/x" });
	expect(asked).toHaveLength(3);
});
