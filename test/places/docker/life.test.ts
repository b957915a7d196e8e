import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { BUSYBOX_IMAGE, FULL_IMAGE, noEngine } from "../../support/dockerd.js";
import { atEnd, tempDir } from "../../support/home.js";
import { run, testPlace } from "./support.js";

const why = noEngine();
const LOST = "its files are there, but what ran in it, and what was in /tmp and other directories in memory, is gone";

describe.skipIf(why)(`a container of a task${why ? `: ${why}` : ""}`, () => {
	for (const image of [FULL_IMAGE, BUSYBOX_IMAGE])
		it(`is made of ${image}, hardened, labelled, and runs commands`, async () => {
			const { host, container, owner, run } = await testPlace({ image });
			const started = await host.start();
			const info = await container.inspect();
			expect(started).toEqual({
				instance: `${info.Id} ${info.State.StartedAt}`,
				notes: [],
				dir: "/var/lib/holdfast/users/place",
				lifetime: 300,
				box: { id: info.Id.slice(0, 12), since: info.State.StartedAt },
			});
			expect(await run("pwd; id -u; echo to stderr >&2; exit 7")).toEqual({
				output: "/root\n0\n",
				ended: "the command in the container ended with exit code 7; it said: to stderr",
			});
			expect(await run("cd /var/lib/holdfast/users/place && stat -c '%a %u' . busy && ls")).toMatchObject({ output: "700 0\n700 0\nbusy\nlife\nseen\n" });
			expect(info.Config.Labels).toMatchObject({ "dev.holdfast.owner": "holdfast", "dev.holdfast.home": owner.home, "dev.holdfast.task": owner.task });
			const { CapDrop, SecurityOpt, Privileged, PidsLimit, Init } = info.HostConfig;
			expect({ CapDrop, SecurityOpt, Privileged, PidsLimit, Init }).toEqual({
				CapDrop: ["ALL"],
				SecurityOpt: ["no-new-privileges"],
				Privileged: false,
				PidsLimit: 256,
				Init: true,
			});
			const { output } = await run("grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; df -m /tmp | tail -n1 | tr -s ' ' | cut -d' ' -f2");
			// CHOWN 0, DAC_OVERRIDE 1, FOWNER 3, KILL 5, SETGID 6, SETUID 7
			expect(output).toBe("CapEff:\t00000000000000eb\nCapBnd:\t00000000000000eb\nNoNewPrivs:\t1\n512\n");
			expect(await host.stop()).toEqual([`The container ${info.Name.slice(1)} of ${image} was removed, with everything in it.`]);
			expect(await host.stop()).toEqual([]);
			await expect(container.inspect()).rejects.toMatchObject({ statusCode: 404 });
		});

	it("is the same one for two programs that start at once", async () => {
		const place = await testPlace();
		const hosts = [place.host, place.other(), place.other(), place.other()];
		const started = await Promise.all(hosts.map((host) => host.start()));
		expect(new Set(started.map(({ instance }) => instance)).size).toBe(1);
		expect(started.flatMap(({ notes }) => notes)).toEqual([]);
		const outputs = await Promise.all(hosts.map((host) => run(host, "ls -A /var/lib/holdfast/users/place; ls -A /var/lib/holdfast/users")));
		expect(new Set(outputs.map(({ output }) => output))).toEqual(new Set(["busy\nlife\nseen\nplace\n"]));
		const stopped = await Promise.all(hosts.map((host) => host.stop()));
		expect(stopped.flat()).toHaveLength(1);
	});

	it("that was removed is made again, and that is said", async () => {
		const { host, container, run } = await testPlace();
		const first = await host.start();
		await run("echo lost >/root/file");
		await container.remove({ force: true });
		await expect(host.open("true")).rejects.toThrow("the container was removed");
		const second = await host.start();
		expect(second.instance).not.toBe(first.instance);
		expect(second.notes).toEqual([`The container was gone and has been made again from ${FULL_IMAGE}: the files and processes that were in it are lost.`]);
		expect(await run("cat /root/file")).toMatchObject({ output: "" });
		expect((await host.start()).notes).toEqual([]);
	});

	it("that was removed and made again by another program is told as such", async () => {
		const { host, container, other } = await testPlace();
		await host.start();
		await container.remove({ force: true });
		expect((await other().start()).notes).toEqual([]);
		expect((await host.start()).notes).toEqual([
			`The container was gone and has been made again by another program from ${FULL_IMAGE}: the files and processes that were in it are lost.`,
		]);
	});

	it("that was stopped or killed is started again with its files", async () => {
		const { host, container, run, other } = await testPlace();
		const first = await host.start();
		await run("echo kept >/root/file; echo lost >/tmp/file");
		await container.stop({ t: 100 }); // it ends when it is told to; a KILL after a second would find a busy machine still at it
		await expect(host.open("true")).rejects.toThrow("the container had been stopped");
		const second = await host.start();
		expect(second.notes).toEqual([`The container had been stopped. It has been started again: ${LOST}.`]);
		expect(second.instance).not.toBe(first.instance);
		expect(await run("cat /root/file; ls /tmp; ls /var/lib/holdfast/users/place")).toMatchObject({ output: "kept\nbusy\nlife\nseen\n" });
		await container.kill();
		await container.wait();
		expect((await host.start()).notes).toEqual([`The container had been killed. It has been started again: ${LOST}.`]);
		await container.kill();
		await container.wait();
		await other().start();
		expect((await host.start()).notes).toEqual([`The container had been started again: ${LOST}.`]);
	});

	it("that was paused goes on", async () => {
		const { host, container, run } = await testPlace();
		const first = await host.start();
		await container.pause();
		await expect(host.open("true")).rejects.toThrow("the container is paused");
		expect(await host.start()).toEqual({ ...first, notes: ["The container had been paused; it goes on now, and nothing is lost."] });
		expect(await run("echo here")).toMatchObject({ output: "here\n" });
	});

	it("is stopped, not removed, when it is to be kept", async () => {
		const { host, container, other, name } = await testPlace({ keep: true });
		await host.start();
		await run(host, "echo kept >/root/file");
		expect(await Promise.all([host.stop(), other().stop()])).toContainEqual([`The container ${name} of ${FULL_IMAGE} was stopped; its files are kept.`]);
		expect(await host.stop()).toEqual([]);
		expect((await container.inspect()).State).toMatchObject({ Running: false, ExitCode: 0 });
		const next = other();
		expect((await next.start()).notes).toEqual([`The container had been stopped. It has been started again: ${LOST}.`]);
		expect(await run(next, "cat /root/file")).toMatchObject({ output: "kept\n" });
	});

	it("that is removed and stopped all the time while it starts ends in one or in words", async () => {
		const { host, container, other } = await testPlace();
		let go = true;
		const vandal = (async () => {
			while (go) await container.remove({ force: true }).catch(() => {});
		})();
		const results = await Promise.allSettled([host.start(), other().start(), other().start()]);
		go = false;
		await vandal;
		for (const result of results)
			if (result.status === "rejected") expect(String(result.reason.message)).toMatch(/^(the |something |starting |looking |preparing )/);
		await host.start();
		expect(await run(host, "echo here")).toMatchObject({ output: "here\n" });
	});

	it("of other settings is not used in silence", async () => {
		const { host, other } = await testPlace();
		await host.start();
		await expect(other({ network: false, memory: "64M" }).start()).rejects.toThrow(/made with other settings \(network, memory\)|\(memory, network\)/);
		await other({ keep: true, pull: "missing" }).start(); // these do not change what it is
	});

	it("a container of the same name that is not ours is left alone", async () => {
		const { engine, host, name, container } = await testPlace();
		await engine.docker.createContainer({ name, Image: FULL_IMAGE, Cmd: ["true"] });
		await expect(host.start()).rejects.toThrow(`there is a container named ${name} that is not Holdfast's`);
		expect(await host.stop()).toEqual([]);
		expect((await container.inspect()).State.Status).toBe("created");
	});

	it("has volumes, an environment, a directory, and no network if so asked", async () => {
		const dir = tempDir("volume");
		fs.writeFileSync(path.join(dir, "file"), "from the host\n");
		const { host, run } = await testPlace({
			volumes: [`${dir}:/work`, `${dir}:/read:ro`],
			environment: { GREETING: "hello = 'you'" },
			workdir: "/work",
			network: false,
			tmpfs: { "/scratch": "3M", "/var/tmp": null },
			arguments: ["--add-host", "far:10.9.8.7", "--hostname=box", "--shm-size", "5M"],
		});
		expect(await host.start()).toMatchObject({ cwd: "/work" });
		const { output } = await run(
			"cd /work; pwd; cat file; echo back >new; echo no >/read/x; printf '%s\\n' \"$GREETING\"; cat /proc/net/dev | wc -l; grep far /etc/hosts | tr -s '\\t' ' '; uname -n; " +
				"for d in /scratch /dev/shm; do df -m $d | tail -n1 | tr -s ' ' | cut -d' ' -f2; done; grep -c ' /var/tmp ' /proc/mounts",
		);
		expect(output).toBe("/work\nfrom the host\nhello = 'you'\n3\n10.9.8.7 far\nbox\n3\n5\n0\n");
		expect(fs.readFileSync(path.join(dir, "new"), "utf8")).toBe("back\n");
		expect(fs.existsSync(path.join(dir, "x"))).toBe(false);
	});

	it("has the directory that was asked for, also another one later", async () => {
		const { host, other } = await testPlace({ workdir: "/srv/made/here", user: "1000:1000" });
		expect(await host.start()).toMatchObject({ cwd: "/srv/made/here" });
		const later = other({ workdir: "/home/agent" });
		expect(await later.start()).toMatchObject({ cwd: "/home/agent", notes: [] });
		expect(await run(later, "pwd; stat -c %u:%g:%a /srv/made/here /home/agent")).toMatchObject({ output: "/home/agent\n1000:1000:755\n1000:1000:755\n" });
		const inMemory = other({ workdir: "/tmp/made/here" });
		expect(await inMemory.start()).toMatchObject({ cwd: "/tmp/made/here" });
		expect(await run(inMemory, "stat -c %u:%a /tmp/made/here")).toMatchObject({ output: "1000:755\n" });
		const readOnly = await testPlace({ workdir: "/srv/none", arguments: ["--read-only"] });
		await expect(readOnly.host.start()).rejects.toMatchObject({
			code: "NO_DIRECTORY",
			message: expect.stringContaining("there is no directory /srv/none in the container"),
		});
	});

	for (const user of ["agent", "1000:1000", "4321:4322"])
		it(`runs as ${user}, who has a private directory`, async () => {
			const { host, run } = await testPlace({ user });
			const { dir } = await host.start();
			const { output } = await run(
				`id -u; stat -c %u:%a ${dir} ${dir}/busy ${dir}/life; echo x >${dir}/mine && cat ${dir}/mine; grep CapEff /proc/self/status`,
			);
			const uid = user === "4321:4322" ? 4321 : 1000;
			expect(output).toBe(`${uid}\n${uid}:700\n${uid}:700\n${uid}:600\nx\nCapEff:\t0000000000000000\n`);
		});

	it("is the home of a host user whom the image does not know", async () => {
		const getuid = vi.spyOn(process, "getuid").mockReturnValue(4321);
		const getgid = vi.spyOn(process, "getgid").mockReturnValue(4322);
		atEnd(() => [getuid, getgid].map((spy) => spy.mockRestore()));
		const { host, run } = await testPlace({ user: "host" });
		await host.start();
		expect(await run("id -u; id -g; pwd; touch here; stat -c %u:%g:%a . here")).toMatchObject({
			output: "4321\n4322\n/var/lib/holdfast/home\n4321:4322:700\n4321:4322:644\n",
		});
	});

	it("with a read-only root has its private directory on a volume, which goes with it", async () => {
		const { host, run, container, engine } = await testPlace({ user: "agent", arguments: ["--read-only"] });
		const { dir } = await host.start();
		const check = `touch /var/x 2>&1 | grep -c Read-only; stat -c %U:%a ${dir}; cat ${dir}/mine; echo x >${dir}/mine; grep -c ' /var/lib/holdfast ' /proc/mounts`;
		expect(await run(check)).toMatchObject({ output: "1\nagent:700\n1\n" });
		await container.stop({ t: 100 }); // it ends when it is told to; a KILL after a second would find a busy machine still at it
		await host.start();
		expect(await run(check)).toMatchObject({ output: "1\nagent:700\nx\n1\n" });
		const [volume] = (await container.inspect()).Mounts.filter(({ Destination }) => Destination === "/var/lib/holdfast");
		await host.stop();
		await expect(engine.docker.getVolume(volume?.Name as string).inspect()).rejects.toMatchObject({ statusCode: 404 });
	});
});
