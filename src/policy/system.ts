/** Checks about the machine's own files: disks, permissions, what belongs to the system. */
import { mountsOf } from "./containers.js";
import { does } from "./effects.js";
import { hasFlag, is, says, words } from "./flags.js";
import type { Found } from "./found.js";
import { valuesOf } from "./options.js";
import { isAtWork, isTemporary, isWithin, placesOf } from "./paths.js";
import type { World } from "./scope.js";
import type { Word } from "./word.js";

const DISK = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper\/|dm-|md|loop|mem|kmem|sr|\x01|r?disk)/;

export function wipesDisk(command: Found, world: World): boolean {
	const isDisk = (one: Word) => placesOf(one, command, world).some((place) => place !== null && DISK.test(place));
	if (does(command, ["writes", "empties", "deletes"], ({ file }) => isDisk(file))) return true;
	if (is(command, "wipefs", "blkdiscard", "badblocks", "sgdisk") || command.names.some((name) => /^(?:mkfs|mke2fs|mkswap|newfs)/.test(name)))
		return words(command).some(isDisk);
	return false;
}

const SYSTEM =
	/^\/(?:etc|usr|bin|sbin|lib\w*|boot|sys|proc|opt|root|var(?!\/(?:tmp|folders))|System|Library|dev(?!\/(?:null|zero|full|tty|stdin|stdout|stderr|fd|shm|ptmx|u?random)\b))(?:\/|$)/;
const isSystem = (place: string | null, command: Found, world: World): boolean =>
	place !== null && (place === "/" || (SYSTEM.test(place) && !isAtWork(place, command, world) && !isWithin(place, world.home)));

export function changesSystemPermissions(command: Found, world: World): boolean {
	if (!is(command, "chmod", "chown", "chgrp", "setfacl", "chattr", "setcap")) return false;
	const all = words(command);
	if (is(command, "chmod") && /^(?:[0-7]*[4-7][0-7]{3}|[ugoa,+=rwx]*\+[rwx]*s[rwx]*)$/.test(all[0]?.text ?? "") && !/^0[0-7]{3}$/.test(all[0]?.text ?? ""))
		return true;
	const recursive = hasFlag(command, "-R|--recursive");
	return (is(command, "chattr", "setfacl", "setcap") ? all : all.slice(1)).some((one) =>
		placesOf(one, command, world).some(
			(place) => isSystem(place, command, world) || (recursive && (place === null || (!isAtWork(place, command, world) && !isTemporary(place, world)))),
		),
	);
}

export function writesSystemFiles(command: Found, world: World): boolean {
	if (command.remote) return false;
	const some = (one: Word) => placesOf(one, command, world).some((place) => isSystem(place, command, world));
	if (does(command, ["makes", "writes", "empties", "moves", "deletes"], ({ file }) => some(file))) return true;
	if (is(command, "docker", "podman") && command.args.some(({ text }) => text === "--privileged")) return says(command, /^(?:run|create)\b/);
	const holdsHome = (one: Word) =>
		placesOf(one, command, world).some((place) => place !== null && (isWithin(world.home, place) || isWithin(world.config, place)));
	if (is(command, "docker", "podman") && says(command, /^(?:run|create)\b/) && command.args.some(({ text }) => /^--(?:cap-add|pid=host|device)\b/.test(text)))
		return true;
	if (mountsOf(command).some(({ source, writable }) => (writable && holdsHome(source)) || /\/docker\.sock$/.test(source.text))) return true;
	if (
		is(command, "make") &&
		says(command, /^(?:\S+=\S+ )*(?:install|uninstall)\b/) &&
		command.args.some(({ text }) => /^(?:prefix|destdir)=\/(?:usr|opt|etc|bin|lib)/i.test(text))
	)
		return true;
	if (is(command, "journalctl")) return command.args.some(({ text }) => /^--(?:vacuum|rotate|flush)/.test(text));
	if (is(command, "apt-key", "certutil", "trust", "update-ca-certificates", "ldconfig"))
		return words(command).length > 0 && !says(command, /^list\b/) && !hasFlag(command, "-L|-p");
	if (changesPackages(command)) return true;
	return (
		is(command, "tar", "bsdtar", "unzip") && extracts(command) && valuesOf(command, /^(?:-[a-zA-Z]*C|--directory|-d)$/, /^(?:--directory=|-C)(.+)$/s).some(some)
	);
}

/** Removes packages of the system, or installs one that is a file: those of a distribution have been looked at. */
function changesPackages(command: Found): boolean {
	if (is(command, "dpkg", "rpm")) return hasFlag(command, "-i|-r|-P|-e|-U|--install|--remove|--purge|--erase") && !hasFlag(command, "-q|-l|-s|-L|-S|-I|-c|-f");
	if (is(command, "apt", "apt-get", "dnf", "yum", "zypper", "apk", "pacman"))
		return (
			says(command, /^(?:remove|purge|autoremove|erase|del|full-upgrade|dist-upgrade)\b/) ||
			hasFlag(command, "-R") ||
			(says(command, /^(?:install|add|localinstall)\b/) && words(command).some(({ text }) => /\.(?:deb|rpm|apk)$/.test(text)))
		);
	return is(command, "pip", "pip3") && hasFlag(command, "--break-system-packages");
}

export const extracts = (command: Found): boolean =>
	is(command, "unzip") ||
	/^-?[a-zA-Z]*x/.test(command.args[0]?.text ?? "") ||
	command.args.some(({ text }) => /^(?:-[a-zA-Z]*x[a-zA-Z]*|--extract|--get)$/.test(text));
