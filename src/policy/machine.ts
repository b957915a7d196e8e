/** Checks about the machine below the programs: its network, its kernel, what is mounted. Looking is free; changing may cut it off. */
import { hasFlag, is, says, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { isAtWork, isTemporary, placesOf } from "./paths.js";
import type { World } from "./scope.js";
import { opensWayIn } from "./ssh.js";

export function changesNetwork(command: FoundCommand): boolean {
	const [first = "", ...rest] = words(command).map(({ text }) => text);
	const name = command.names.at(-1) ?? "";
	if (/^(?:ip6?|arp|eb)tables(?:-legacy|-nft)?$/.test(name))
		return command.args.some(({ text }) => /^(?:-[AIDFXPRNEZ]|--(?:append|insert|delete|flush|policy|replace|new|rename|zero))/.test(text));
	if (/^(?:ip6?|arp|eb)tables(?:-legacy|-nft)?-restore$/.test(name)) return !hasFlag(command, "-t|--test");
	switch (name) {
		case "ngrok":
		case "cloudflared":
		case "localtunnel":
		case "lt":
			return words(command).length > 0 && !/^(?:version|help|config|update)$/.test(first); // opens a way in
		case "ssh":
			return opensWayIn(command);
		case "nft":
			return (
				!hasFlag(command, "-c|--check") &&
				(hasFlag(command, "-f|--file") || says(command, /^(?:flush|add|delete|insert|replace|create|destroy|reset|rename)\b/))
			);
		case "ufw":
			return !hasFlag(command, "--dry-run") && first !== "" && !/^(?:status|version|show|help|app)$/.test(first);
		case "firewall-cmd":
			return command.args.some(({ text }) => /^--(?:add|remove|set|change|new|delete|reload|complete-reload|panic-on|runtime-to-permanent)/.test(text));
		case "ip":
			return changesLinks(command);
		case "ifconfig":
			return rest.length > 0;
		case "route":
			return /^(?:add|del|delete|flush|change)$/.test(first);
		case "ifdown":
		case "ifup":
			return true;
		case "tc":
			return /^(?:add|del|delete|change|replace)$/.test(rest[0] ?? "");
		case "nmcli":
			return says(command, /\b(?:down|delete|modify|off|disconnect|up|connect)\b/);
		case "netplan":
			return /^(?:apply|try|set)$/.test(first);
		case "networkctl":
			return /^(?:down|delete|reconfigure|reload)$/.test(first);
		case "wg-quick":
		case "tailscale":
			return /^(?:up|down|logout|set)$/.test(first);
		case "rfkill":
			return /^(?:block|unblock)$/.test(first);
		default:
			return false;
	}
}

/** ip(8) takes any beginning of its words: `ip l s eth0 down`, `ip r d default`. */
function changesLinks(command: FoundCommand): boolean {
	const VALUED = /^-(?:f|family|n|netns|b|batch|rc|rcvbuf|l|loops)$/;
	const texts = command.args.map(({ text }) => text.replace(/^--/, "-"));
	if (texts.some((text) => /^-b(?:a|at|atc|atch)?$/.test(text))) return true; // from a file
	const [object = "", verb = "", ...rest] = texts.filter((text, at) => !text.startsWith("-") && !VALUED.test(texts[at - 1] ?? ""));
	if (verb === "" || "monitor".startsWith(object)) return false;
	const begins = (word: string) => word.startsWith(verb);
	if ("netns".startsWith(object) && object.length > 3) return begins("delete") || begins("add") || begins("attach");
	if (["add", "append", "change", "replace", "delete", "flush", "prepend", "restore"].some(begins)) return true;
	return object.startsWith("l") && begins("set") && rest.length > 0;
}

export function changesKernel(command: FoundCommand): boolean {
	switch (command.names.at(-1)) {
		case "sysctl":
			return hasFlag(command, "-w|--write|-p|--load|--system|-f") || words(command).some(({ text }) => text.includes("="));
		case "modprobe":
			return words(command).length > 0 && !hasFlag(command, "-n|-D|-c|--dry-run|--show|--show-depends|--showconfig|--show-config|--dump-modversions");
		case "rmmod":
		case "insmod":
		case "kexec":
		case "pivot_root":
		case "switch_root":
		case "update-grub":
		case "grub-install":
		case "grub2-install":
		case "grub-mkconfig":
		case "update-initramfs":
		case "bootctl":
			return !hasFlag(command, "--help|--version") && !says(command, /^(?:status|list|is-installed)\b/);
		case "efibootmgr":
			return hasFlag(command, "-B|-b|-o|-n|-c|-A|-a|-O|-N|--delete-bootnum|--bootorder|--bootnext|--create");
		case "setenforce":
		case "aa-teardown":
			return true;
		case "hostnamectl":
		case "timedatectl":
		case "localectl":
			return says(command, /^(?:set-|hostname \S|chassis \S)/);
		case "date":
			return hasFlag(command, "-s|--set");
		case "auditctl":
			return hasFlag(command, "-e|-D|-d|-W|-R");
		case "fwupdmgr":
			return says(command, /^(?:update|install|downgrade)\b/);
		default:
			return false;
	}
}

/** Mount points of removable media; a mount anywhere else hides existing files. */
const MEDIA = /^\/(?:mnt|media|run\/media)\/[^/]/;

export function changesMounts(command: FoundCommand, world: World): boolean {
	const own = (place: string | null): boolean => place !== null && ((isAtWork(place, command, world) && place !== world.cwd) || isTemporary(place, world));
	const all = words(command);
	const targets = (list: typeof all) => list.flatMap((one) => placesOf(one, command, world));
	if (is(command, "fusermount", "fusermount3")) return hasFlag(command, "-u") && targets(all).some((place) => !own(place));
	if (is(command, "umount")) return hasFlag(command, "-a|--all|-A|--all-targets") || targets(all).some((place) => !own(place));
	if (!is(command, "mount") || hasFlag(command, "-h|--help|-V|--version|--fake")) return false;
	if (hasFlag(command, "-a|--all") || command.args.some(({ text }) => /(?:^|[,=])remount\b/.test(text))) return true;
	// The words of `-t ext4` and `-o ro` are their values.
	const named = all.filter(
		(one) => !/^(?:-[a-zA-Z]*[toLUNO]|--types|--options|--label|--uuid|--namespace|--test-opts)$/.test(command.args[command.args.indexOf(one) - 1]?.text ?? ""),
	);
	const target = named.at(-1);
	return target !== undefined && targets([target]).some((place) => place === null || !(own(place) || MEDIA.test(place)));
}
