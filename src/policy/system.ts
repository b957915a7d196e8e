/** Checks about the machine's own files: permissions, packages, what belongs to the system. */
import { mountsOf } from "./containers.js";
import { does } from "./effects.js";
import { hasFlag, is, says, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { isAtWork, isTemporary, isWithin, placesOf } from "./paths.js";
import type { World } from "./scope.js";
import type { Word } from "./word.js";

const SYSTEM =
	/^\/(?:etc|usr|bin|sbin|lib\w*|boot|sys|proc|opt|root|var(?!\/(?:tmp|folders))|System|Library|dev(?!\/(?:null|zero|full|tty|stdin|stdout|stderr|fd|shm|ptmx|u?random)\b))(?:\/|$)/;
const isSystem = (place: string | null, command: FoundCommand, world: World): boolean =>
	place !== null && (place === "/" || (SYSTEM.test(place) && !isAtWork(place, command, world) && !isWithin(place, world.home)));

export function changesSystemPermissions(command: FoundCommand, world: World): boolean {
	const all = words(command);
	if (is(command, "setcap")) return !hasFlag(command, "-v"); // rights of root for every user who runs it
	if (is(command, "filecap")) return all.length > 1;
	if (is(command, "setfattr")) return command.args.some(({ text }) => /^(?:--name=)?(?:security|trusted)\./.test(text)) || touches(all);
	if (is(command, "chattr"))
		return all.length > 0 && (command.args.some(({ text }) => /^[-+=][a-zA-Z]*[iasu]/.test(text) && !/^-[RVfvp]+$/.test(text)) || touches(all));
	if (!is(command, "chmod", "chown", "chgrp", "setfacl")) return false;
	if (is(command, "chmod") && /^(?:[0-7]*[4-7][0-7]{3}|[ugoa,+=rwx]*\+[rwx]*s[rwx]*)$/.test(all[0]?.text ?? "") && !/^0[0-7]{3}$/.test(all[0]?.text ?? ""))
		return true;
	if (is(command, "setfacl")) return touches(all.filter(({ text }) => !/^[ugom]?:/.test(text)));
	const recursive = hasFlag(command, "-R|--recursive");
	return all.slice(1).some((one) => placesOf(one, command, world).some((place) => isSystem(place, command, world) || (recursive && isOutside(place))));

	function isOutside(place: string | null): boolean {
		return place === null || !(isAtWork(place, command, world) || isTemporary(place, world));
	}
	function touches(files: readonly Word[]): boolean {
		return files.some((one) => placesOf(one, command, world).some(isOutside));
	}
}

export function writesSystemFiles(command: FoundCommand, world: World): boolean {
	if (command.remote) return false;
	const some = (one: Word) => placesOf(one, command, world).some((place) => isSystem(place, command, world));
	if (does(command, ["makes", "writes", "unpacks", "empties", "moves", "deletes"], ({ file }) => some(file))) return true;
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
	if (is(command, "sudo", "doas") && says(command, /^(?:\S+=\S+ )*(?:make|ninja|cmake|meson)\b.*\b(?:un)?install\b/)) return true;
	if (is(command, "update-alternatives", "alternatives")) return command.args.some(({ text }) => /^--(?:install|set|config|remove|auto)/.test(text));
	if (is(command, "journalctl")) return command.args.some(({ text }) => /^--(?:vacuum|rotate|flush)/.test(text));
	if (is(command, "apt-key", "certutil", "trust", "update-ca-certificates", "ldconfig"))
		return words(command).length > 0 && !says(command, /^list\b/) && !hasFlag(command, "-L|-p");
	return changesPackages(command);
}

/** Removes packages of the system, or installs one that is a file: those of a distribution have been looked at. */
function changesPackages(command: FoundCommand): boolean {
	if (is(command, "dpkg", "rpm")) return hasFlag(command, "-i|-r|-P|-e|-U|--install|--remove|--purge|--erase") && !hasFlag(command, "-q|-l|-s|-L|-S|-I|-c|-f");
	if (is(command, "apt", "apt-get", "dnf", "yum", "zypper", "apk", "pacman"))
		return (
			says(command, /^(?:remove|purge|autoremove|erase|del|full-upgrade|dist-upgrade)\b/) ||
			hasFlag(command, "-R") ||
			(says(command, /^(?:install|add|localinstall)\b/) && words(command).some(({ text }) => /\.(?:deb|rpm|apk)$/.test(text)))
		);
	return is(command, "pip", "pip3") && hasFlag(command, "--break-system-packages");
}
