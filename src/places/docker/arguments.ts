/** The flags of `docker run` that have no option of their own. An unknown flag is refused by name, never ignored. */
import { HoldfastError, parseSize } from "../../base/index.js";

/** Parts of HostConfig in the engine's API. */
interface HostConfig {
	ExtraHosts?: string[];
	Dns?: string[];
	DnsSearch?: string[];
	GroupAdd?: string[];
	CapAdd?: string[];
	Devices?: { PathOnHost: string; PathInContainer: string; CgroupPermissions: string }[];
	DeviceRequests?: object[];
	ShmSize?: number;
	Ulimits?: { Name: string; Soft: number; Hard: number }[];
	Sysctls?: Record<string, string>;
	CpusetCpus?: string;
	Runtime?: string;
}

interface Draft {
	host: HostConfig;
	container: { Hostname?: string };
}

export interface Extra extends Readonly<Draft> {
	readonly readOnly: boolean;
}

/** Returns what is wrong with the value. */
type Flag = (value: string, to: Draft) => string | undefined;

const list =
	(key: "ExtraHosts" | "Dns" | "DnsSearch" | "GroupAdd" | "CapAdd", fits: RegExp, example: string): Flag =>
	(value, { host }) => {
		if (!fits.test(value)) return `takes for example ${example}`;
		host[key] = [...(host[key] ?? []), value];
		return undefined;
	};

const FLAGS: Readonly<Record<string, Flag>> = {
	"--add-host": list("ExtraHosts", /^[\w.-]+:[\w.:-]+$/, '"name:10.0.0.5"'),
	"--dns": list("Dns", /^[\da-fA-F.:]+$/, '"10.0.0.53"'),
	"--dns-search": list("DnsSearch", /^[\w.-]+$/, '"example.org"'),
	"--group-add": list("GroupAdd", /^[\w.-]+$/, '"video"'),
	"--cap-add": list("CapAdd", /^(?!(CAP_)?ALL$)[A-Z_]+$/, '"NET_RAW"; all of them are not given'),
	"--device": (value, { host }) => {
		const [here, there, rights, ...more] = value.split(":") as [string, ...string[]];
		if (!/^\/dev\/./.test(here) || more.length > 0 || !/^[rwm]{1,3}$/.test(rights ?? "rwm")) return 'takes for example "/dev/fuse" or "/dev/sda:/dev/xvda:r"';
		host.Devices = [...(host.Devices ?? []), { PathOnHost: here, PathInContainer: there || here, CgroupPermissions: rights ?? "rwm" }];
		return undefined;
	},
	"--gpus": (value, { host }) => {
		if (!/^(all|[1-9]\d{0,3})$/.test(value)) return 'takes "all" or a number';
		host.DeviceRequests = [{ Driver: "", Count: value === "all" ? -1 : Number(value), DeviceIDs: [], Capabilities: [["gpu"]], Options: {} }];
		return undefined;
	},
	"--shm-size": (value, { host }) => {
		const bytes = parseSize(value);
		if (!bytes) return 'takes for example "1G"';
		host.ShmSize = bytes;
		return undefined;
	},
	"--ulimit": (value, { host }) => {
		const match = /^([a-z]+)=(-?\d+)(?::(-?\d+))?$/.exec(value);
		if (!match) return 'takes for example "nofile=1024:4096"';
		host.Ulimits = [...(host.Ulimits ?? []), { Name: match[1] as string, Soft: Number(match[2]), Hard: Number(match[3] ?? match[2]) }];
		return undefined;
	},
	"--sysctl": (value, { host }) => {
		const at = value.indexOf("=");
		if (at < 1) return 'takes for example "net.ipv4.ip_forward=1"';
		host.Sysctls = { ...host.Sysctls, [value.slice(0, at)]: value.slice(at + 1) };
		return undefined;
	},
	"--cpuset-cpus": (value, { host }) => {
		if (!/^\d+([-,]\d+)*$/.test(value)) return 'takes for example "0-2,4"';
		host.CpusetCpus = value;
		return undefined;
	},
	"--runtime": (value, { host }) => {
		if (!/^[\w.-]+$/.test(value)) return 'takes the name of a runtime of the engine, for example "runsc"';
		host.Runtime = value;
		return undefined;
	},
	"--hostname": (value, { container }) => {
		if (!/^[a-zA-Z0-9][a-zA-Z0-9.-]{0,62}$/.test(value)) return "takes a name of letters, digits, . and -";
		container.Hostname = value;
		return undefined;
	},
};

/** For options that people expect among these arguments: where to set them instead. */
const SET_ELSEWHERE: Readonly<Record<string, string>> = {
	"--memory": 'use the option "memory"',
	"-m": 'use the option "memory"',
	"--cpus": 'use the option "cpus"',
	"--pids-limit": 'use the option "pids"',
	"--storage-opt": 'use the option "disk"',
	"--network": 'use the option "network", which is true or false',
	"--net": 'use the option "network", which is true or false',
	"--volume": 'use the option "volumes"',
	"-v": 'use the option "volumes"',
	"--mount": 'use the option "volumes"',
	"--env": 'use the option "environment"',
	"-e": 'use the option "environment"',
	"--user": 'use the option "user"',
	"-u": 'use the option "user"',
	"--workdir": 'use the option "workdir"',
	"-w": 'use the option "workdir"',
	"--tmpfs": 'use the option "tmpfs"',
	"--rm": 'use the option "keep"',
	"--privileged": "a container of an agent is not given all rights; name what is needed with --cap-add or --device",
};

export function parseArguments(given: readonly string[]): Extra {
	const draft: Draft = { host: {}, container: {} };
	let readOnly = false;
	const refuse = (why: string): never => {
		throw new HoldfastError("INVALID", `arguments: ${why}`);
	};
	for (let at = 0; at < given.length; at++) {
		const item = given[at] as string;
		const equals = item.indexOf("=");
		const name = item.startsWith("-") && equals > 0 ? item.slice(0, equals) : item;
		if (name === "--read-only") {
			if (equals > 0) refuse("--read-only takes no value");
			readOnly = true;
			continue;
		}
		const flag = Object.hasOwn(FLAGS, name) ? FLAGS[name] : undefined;
		if (flag === undefined) {
			const hint = Object.hasOwn(SET_ELSEWHERE, name) ? SET_ELSEWHERE[name] : `there are ${[...Object.keys(FLAGS), "--read-only"].sort().join(", ")}`;
			return refuse(`${JSON.stringify(name.slice(0, 100))} is not taken; ${hint}`);
		}
		const value = equals > 0 ? item.slice(equals + 1) : given[++at];
		if (value === undefined) return refuse(`${name} takes a value`);
		const wrong = value.includes("\0") ? "cannot contain a NUL byte" : flag(value, draft);
		if (wrong !== undefined) return refuse(`${name} ${wrong}, not ${JSON.stringify(value.slice(0, 100))}`);
	}
	return { ...draft, readOnly };
}
