/** Checks about disks and what is below the files: partitions, file systems, subvolumes, drives that are erased by their own tools. Looking is free. */
import { byName } from "../base/index.js";
import { does } from "./effects.js";
import { hasFlag, is, says, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { isAtWork, isTemporary, placesOf } from "./paths.js";
import type { World } from "./scope.js";
import { SHAPES } from "./shapes.js";
import type { Word } from "./word.js";

const DISK = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper\/|dm-|md|loop|mem|kmem|sr|\x01|r?disk)/;

/** Overwrites one from its beginning to its end, or makes it forget everything. */
export function wipesDisk(command: FoundCommand, world: World): boolean {
	const isDisk = (one: Word) => placesOf(one, command, world).some((place) => place !== null && DISK.test(place));
	if (does(command, ["writes", "empties", "deletes"], ({ file }) => isDisk(file))) return true;
	if (is(command, "nvme")) return says(command, /^(?:format|sanitize|write-zeroes|delete-ns)\b/) && words(command).some(isDisk);
	if (
		is(command, "wipefs", "blkdiscard", "badblocks", "sgdisk", "sg_format", "sg_sanitize") ||
		command.names.some((name) => /^(?:mkfs|mke2fs|mkswap|newfs)/.test(name))
	)
		return words(command).some(isDisk);
	return false;
}

/** Whatever they are told, they change disks. */
const ALWAYS =
	/^(?:mkfs(?:\..*)?|mke2fs|[cs]?fdisk|s?gdisk|cgdisk|parted|wipefs|blkdiscard|mkswap|swapoff|(?:lv|vg|pv)(?:remove|reduce|resize)|cryptsetup|zpool|zfs|mdadm|diskutil|hdparm|badblocks|sg_format|sg_sanitize)$/;

/** Programs that also look: what they are told when they change something. */
const CHANGES = byName<(command: FoundCommand) => boolean>({
	btrfs: (command) =>
		says(
			command,
			/^(?:su\w* set-default|dev\w* (?:a|del|rem)\w*|fi\w* (?:resi|mkswap)\w*|bal\w* (?!st\w*us)\w|resc\w* \w|rep\w* st|prop\w* set|quota (?:en|dis)\w*)/,
		) ||
		(says(command, /^check\b/) && command.args.some(({ text }) => /^--(?:repair|init-)/.test(text))),
	nvme: (command) => !says(command, /^(?:list\S*|id-\S+|show-\S+|get-\S+|\S+-log|version|help|top|discover|gen-hostnqn)?(?: |$)/),
	dmsetup: (command) => says(command, /^(?:remove\S*|wipe_table|clear|create|load|reload|resume|suspend|rename|message)\b/),
	losetup: (command) => hasFlag(command, "-d|-D|--detach|--detach-all"),
});

/** Programs that also work on an image file instead of a disk. */
const ON_IMAGES = byName<(command: FoundCommand) => boolean>({
	tune2fs: (command) => !hasFlag(command, "-l"),
	resize2fs: (command) => !hasFlag(command, "-P"),
	xfs_repair: (command) => !hasFlag(command, "-n"),
	xfs_growfs: (command) => !hasFlag(command, "-n"),
	e2fsck: (command) => !hasFlag(command, "-n"),
	fsck: (command) => !hasFlag(command, "-n|-N"),
	debugfs: (command) => hasFlag(command, "-w"),
	e2label: (command) => words(command).length > 1,
});

export function changesDisks(command: FoundCommand, world: World): boolean {
	if (command.names.some((name) => ALWAYS.test(name) || CHANGES[name]?.(command))) return true;
	const kind = command.names.map((name) => ON_IMAGES[name.replace(/^fsck\..*/, "fsck")]).find(Boolean);
	const own = (place: string | null) => place !== null && (isAtWork(place, command, world) || isTemporary(place, world)) && !place.startsWith("/dev/");
	return kind?.(command) === true && words(command).some((one) => one.text.includes("/") && placesOf(one, command, world).some((place) => !own(place)));
}

const ENDLESS = /^\/dev\/(?:zero|u?random|full)$/;
const PASSES_ON = ["cat", "tr", "base64", "xxd", "od", "hexdump", "tee", "pv", "strings"];

/** Prints without end. */
const isEndless = (command: FoundCommand): boolean =>
	is(command, "yes") ||
	(SHAPES[command.names[0] ?? ""] !== undefined && !is(command, "timeout", "ssh") && command.args.some(({ text }) => text === "yes")) ||
	(is(command, ...PASSES_ON) && [...command.args, ...command.reads].some(({ text }) => ENDLESS.test(text)));

/** Writes to a file until the disk, or the memory, is full. */
export function fillsDisk(command: FoundCommand): boolean {
	const files = [...command.writes, ...(is(command, "tee") ? words(command) : [])].filter(({ text }) => !/^(?:\/dev\/(?!shm\/)|&?\d+$)/.test(text));
	if (files.length === 0) return false;
	return (
		isEndless(command) ||
		(is(command, ...PASSES_ON) && command.upstream.some(isEndless) && command.upstream.every((one) => isEndless(one) || is(one, ...PASSES_ON)))
	);
}
