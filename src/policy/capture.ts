/** Checks about programs that record what others do at this machine. */
import { hasFlag, is, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { valuesOf } from "./options.js";

/** Sound, a camera, a display that a person looks at, keystrokes, traffic. What is on loopback, or in a file, is one's own. */
export function captures(command: FoundCommand): boolean {
	if (is(command, "arecord", "parec", "parecord", "pw-record", "showkey", "evtest", "logkeys")) return !hasFlag(command, "-l|-L|--list|--help|--version");
	if (is(command, "xinput")) return words(command)[0]?.text.startsWith("test") === true;
	if (is(command, "tcpdump", "tshark", "dumpcap", "ngrep", "ettercap", "wireshark")) {
		if (hasFlag(command, "-r|-D|-h|--version|--help|--read-file|--list-interfaces")) return false;
		return !valuesOf(command, /^(?:-[a-zA-Z]*i|-d|--interface)$/, /^(?:--interface=|-i)(.+)$/s).some(({ text }) => /^lo\d*$/.test(text));
	}
	if (!is(command, "ffmpeg", "ffplay")) return false;
	const inputs = valuesOf(command, /^-i$/).map(({ text }) => text);
	return valuesOf(command, /^-f$/).some(({ text }) =>
		text === "x11grab" ? inputs.some((name) => /^:\d(?:\.\d)?(?:\+.*)?$/.test(name)) : /^(?:alsa|pulse|avfoundation|v4l2|kmsgrab|gdigrab|dshow)$/.test(text),
	); // a display of two digits is a virtual one
}
