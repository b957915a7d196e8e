/**
 * A real cluster of Slurm on loopback, with one node: munged, slurmctld and slurmd, in a directory of their own. One for the whole run, started by whoever needs it
 * first and stopped by the global teardown; `ownSlurm` is for a test that breaks it. Needs root, and the packages slurmctld, slurmd, slurm-client and munge.
 */
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { readIfThere } from "../../src/base/files.js";
import { type Identity, isAlive, readStat } from "../../src/base/proc.js";
import { atEnd, testRoot, until } from "./home.js";
import { freePort } from "./ports.js";

const PROGRAMS = ["/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch"];

/** Why there can be none here; undefined when there can. */
export const noSlurm: string | undefined =
	process.getuid?.() !== 0
		? "a Slurm cluster for tests can only be started by root"
		: PROGRAMS.every((file) => fs.existsSync(file))
			? undefined
			: "Slurm is not installed (packages slurmctld, slurmd, slurm-client, munge)";

export interface TestSlurm {
	readonly dir: string;
	/** For SLURM_CONF. */
	readonly conf: string;
	/** Runs a program of Slurm; its output. */
	run(program: string, ...args: readonly string[]): string;
	/** Ends one of its daemons, or starts it again. */
	kill(daemon: Daemon, signal?: NodeJS.Signals): Promise<void>;
	start(daemon: Daemon): Promise<void>;
}
type Daemon = "munged" | "slurmctld" | "slurmd";

const SHARED = "slurm";

export async function sharedSlurm(): Promise<TestSlurm> {
	const dir = path.join(path.dirname(testRoot()), SHARED);
	const ready = path.join(dir, "ready");
	try {
		fs.mkdirSync(dir, { mode: 0o755 });
	} catch {
		await until("another worker has started Slurm", () => fs.existsSync(ready), 120_000);
		return clusterAt(dir);
	}
	const cluster = await startCluster(dir);
	fs.writeFileSync(ready, "");
	return cluster;
}

let count = 0;
export async function ownSlurm(): Promise<TestSlurm> {
	const dir = path.join(path.dirname(testRoot()), `own-slurm-${process.pid}-${count++}`);
	fs.mkdirSync(dir, { mode: 0o755 });
	atEnd(() => stopCluster(dir));
	return startCluster(dir);
}

/** For test/support/global.ts. */
export const stopSlurm = (root: string): Promise<void> => stopCluster(path.join(root, SHARED));

/** Has programs that this one starts find the cluster, until the test or the file is over. */
export function useSlurm({ conf }: Pick<TestSlurm, "conf">): void {
	const before = process.env.SLURM_CONF;
	process.env.SLURM_CONF = conf;
	atEnd(() => {
		if (before === undefined) delete process.env.SLURM_CONF;
		else process.env.SLURM_CONF = before;
	});
}

/** Its control group is called after it, so no two clusters have the same. */
const nodeOf = (dir: string): string => fs.readFileSync(path.join(dir, "node"), "utf8");

const ENV = (conf: string) => ({ PATH: "/usr/sbin:/usr/bin:/sbin:/bin", SLURM_CONF: conf }); // without TEST_ROOT: they are not something that a test has left behind

function clusterAt(dir: string): TestSlurm {
	const conf = path.join(dir, "slurm.conf");
	const at = (name: string) => path.join(dir, name);
	const pidFile = (daemon: Daemon) => at(`${daemon}.pid`);
	const argv: Readonly<Record<Daemon, readonly string[]>> = {
		munged: [
			`--key-file=${at("munge/key")}`,
			`--socket=${at("munge.sock")}`,
			`--pid-file=${pidFile("munged")}`,
			`--log-file=${at("munge/log")}`,
			`--seed-file=${at("munge/seed")}`,
		],
		slurmctld: ["-D", "-f", conf],
		slurmd: ["-D", "-f", conf, "-N", nodeOf(dir)],
	};
	const run = (program: string, ...args: readonly string[]): string => {
		const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env: { ...ENV(conf), SLURM_TIME_FORMAT: "standard" }, timeout: 30_000 });
		if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
		return stdout;
	};
	const start = async (daemon: Daemon) => {
		const log = fs.openSync(at("daemons.log"), "a");
		const child = spawn(`/usr/sbin/${daemon}`, argv[daemon], { detached: true, stdio: ["ignore", log, log], env: ENV(conf) });
		fs.closeSync(log);
		child.unref();
		if (daemon === "munged")
			await until("munged listens", () => fs.existsSync(at("munge.sock")) && readStat(Number(readIfThere(pidFile("munged")) || 0)) !== undefined);
		const pid = daemon === "munged" ? Number(readIfThere(pidFile("munged"))) : (child.pid as number);
		fs.writeFileSync(at(`${daemon}.identity`), JSON.stringify(readStat(pid)));
	};
	const kill = async (daemon: Daemon, signal: NodeJS.Signals = "SIGTERM") => {
		const file = at(`${daemon}.identity`);
		if (!fs.existsSync(file)) return;
		const one: Identity = JSON.parse(fs.readFileSync(file, "utf8"));
		if (isAlive(one)) process.kill(one.pid, signal);
		await until(`${daemon} is gone`, () => !isAlive(one));
		fs.rmSync(file);
	};
	return { dir, conf, run, kill, start };
}

async function startCluster(dir: string): Promise<TestSlurm> {
	const at = (name: string) => path.join(dir, name);
	fs.mkdirSync(at("munge"), { mode: 0o700 });
	for (const name of ["state", "spool"]) fs.mkdirSync(at(name), { mode: 0o755 });
	fs.writeFileSync(at("node"), `n${randomBytes(4).toString("hex")}`);
	fs.writeFileSync(at("munge/key"), randomBytes(1024), { mode: 0o400 });
	const host = os.hostname().split(".")[0];
	const [controller, node] = [await freePort(), await freePort()];
	// As clusters have it: what a step has started ends with the step. Where control groups cannot be used that way, by the tree of processes.
	const grouped = fs.existsSync("/sys/fs/cgroup/freezer");
	fs.writeFileSync(at("cgroup.conf"), "CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nConstrainRAMSpace=no\n");
	fs.writeFileSync(
		at("slurm.conf"),
		[
			...["ClusterName=t", `SlurmctldHost=${host}(127.0.0.1)`, `SlurmctldPort=${controller}`, "SlurmUser=root", `AuthInfo=socket=${at("munge.sock")}`],
			...[`StateSaveLocation=${at("state")}`, `SlurmdSpoolDir=${at("spool")}`, `SlurmctldPidFile=${at("slurmctld.pid")}`, `SlurmdPidFile=${at("slurmd.pid")}`],
			...[`SlurmctldLogFile=${at("slurmctld.log")}`, `SlurmdLogFile=${at("slurmd.log")}`, `ProctrackType=proctrack/${grouped ? "cgroup" : "linuxproc"}`],
			...[
				"TaskPlugin=task/none",
				"JobAcctGatherType=jobacct_gather/none",
				"MpiDefault=none",
				"SelectType=select/cons_tres",
				"SelectTypeParameters=CR_Core_Memory",
			],
			...[
				"ReturnToService=2",
				"SlurmdTimeout=30",
				"KillWait=2",
				"SlurmdParameters=config_overrides",
				"DefMemPerNode=50",
				"MinJobAge=300",
				"SchedulerParameters=sched_min_interval=0,batch_sched_delay=0",
			],
			`NodeName=${nodeOf(dir)} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${node} CPUs=2 RealMemory=4000 State=UNKNOWN`,
			"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=60 State=UP OverSubscribe=FORCE:16",
			"PartitionName=small Nodes=ALL MaxTime=5 State=UP",
			"PartitionName=down Nodes=ALL State=DOWN",
			"",
		].join("\n"),
	);
	const cluster = clusterAt(dir);
	for (const daemon of ["munged", "slurmctld", "slurmd"] as const) await cluster.start(daemon);
	await until(
		"the node is idle",
		() => {
			try {
				return /idle|mix|alloc/.test(cluster.run("sinfo", "-h", "-p", "main", "-o", "%t"));
			} catch {
				return false;
			}
		},
		60_000,
	);
	return cluster;
}

/** What jobs of a node that was killed have left, which is in these groups and nobody else's. */
async function removeGroups(top: string): Promise<void> {
	if (!fs.existsSync(top)) return;
	const below = fs.readdirSync(top, { recursive: true, withFileTypes: true }).filter((one) => one.isDirectory());
	const groups = [...below.map((one) => path.join(one.parentPath, one.name)).sort((a, b) => b.length - a.length), top];
	const members = () => groups.flatMap((group) => (readIfThere(path.join(group, "cgroup.procs")) ?? "").split("\n").filter(Boolean).map(Number));
	await until("nothing of the node's jobs is left", () => {
		const left = members();
		for (const pid of left) if (readStat(pid)) spawnSync("kill", ["-9", String(pid)]); // it may end meanwhile
		return left.length === 0;
	});
	for (const group of groups) if (fs.existsSync(group)) fs.rmdirSync(group);
}

async function stopCluster(dir: string): Promise<void> {
	const cluster = clusterAt(dir);
	try {
		if (fs.existsSync(path.join(dir, "slurmctld.identity"))) {
			cluster.run("scancel", "-u", "root");
			await until("no job is left", () => cluster.run("squeue", "-h") === "");
		}
	} catch {
		// it was broken on purpose: what is left of jobs ends with slurmd's cgroup below
	}
	for (const daemon of ["slurmd", "slurmctld", "munged"] as const) await cluster.kill(daemon).catch(() => {});
	await removeGroups(`/sys/fs/cgroup/freezer/slurm_${nodeOf(dir)}`);
	fs.rmSync(dir, { recursive: true, force: true });
}
