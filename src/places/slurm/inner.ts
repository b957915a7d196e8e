/** A container of Apptainer in a job: started by the job itself, so that it ends with the job and not with a step. */
import { shellQuote } from "../../base/index.js";
import { fetchArguments, fetchScript } from "../apptainer/fetch.js";
import { digest } from "../owner.js";
import { switchSeconds } from "../settings.js";
import { switchScript } from "../switch.js";
import type { SlurmSettings } from "./options.js";

const INNER_DIR = "/var/lib/holdfast";

/**
 * Returns shell text for the node. `at`: the job's directory. Its own switch is in the container, where the processes are; the job's sees its sign of life in `inner`.
 * Exit codes: 91 no working directory, 92 no apptainer, 93 no image.
 */
export function innerStart({ apptainer, workdir, lifetime }: SlurmSettings, at: string, name: string): string {
	if (apptainer === undefined) return "true";
	const { image, fakeroot, gpu, network, volumes, scratch, pull } = apptainer;
	const q = shellQuote;
	const isFile = image.startsWith("/");
	const images = scratch === undefined ? '"${APPTAINER_TMPDIR:-$HOME/.local/state}"/holdfast/images' : q(`${scratch}/holdfast/images`);
	const flags = [
		...[
			"--containall",
			"--overlay",
			q(`${at}/overlay`),
			"--workdir",
			q(`${at}/work`),
			"--bind",
			q(`${at}/place:${INNER_DIR}`),
			"--bind",
			q(`${at}/inner:${INNER_DIR}-inner`),
		],
		...volumes.flatMap(({ source, target, readOnly }) => ["--bind", q(`${source}:${target}:${readOnly ? "ro" : "rw"}`)]),
		...(fakeroot ? ["--fakeroot"] : []),
		...(gpu ? ["--nv"] : []),
		...(network ? [] : ["--net", "--network", "none"]),
	].join(" ");
	const inside = [
		"umask 077",
		...(workdir === undefined ? [] : [`mkdir -p -- ${q(workdir)} || exit 91`]),
		`mkdir ${INNER_DIR}/switch 2>/dev/null || exit 0`,
		"s=; command -v setsid >/dev/null 2>&1 && s=setsid",
		`$s sh -c 'while true >${INNER_DIR}-inner/life; do sleep 5; done' </dev/null >/dev/null 2>&1 &`,
		`$s sh -c "$1" holdfast ${INNER_DIR} ${switchSeconds(lifetime)} "echo idle >${INNER_DIR}/over; kill -TERM 1; sleep 5; exit 75" </dev/null >/dev/null 2>&1 &`,
	].join("\n");
	return [
		"a=apptainer; command -v apptainer >/dev/null 2>&1 || a=singularity; command -v $a >/dev/null 2>&1 || exit 92",
		`mkdir -p ${q(`${at}/overlay`)} ${q(`${at}/work`)}`,
		...(isFile
			? [`f=${q(image)}; [ -e "$f" ] || { echo "there is no file $f on the node" >&2; exit 93; }`]
			: [
					`d=${images}; mkdir -p "$d"; f=$d/${q(`${image.replace(/[^\w.-]+/g, "-").slice(-80)}-${digest(image, 12)}.sif`)}`,
					pull === "never" ? `[ -e "$f" ] || { echo "there is no image $f on the node" >&2; exit 93; }` : fetchText(apptainer, at),
				]),
		// The second program waits for the first.
		`if mkdir ${q(`${at}/instance`)} 2>/dev/null; then $a -q instance start ${flags} "$f" ${name} || { rmdir ${q(`${at}/instance`)}; exit 94; }`,
		watchText(at, name),
		"fi",
		`n=0; until $a -s exec -e instance://${name} true 2>/dev/null; do n=$((n + 1)); [ $n -lt 50 ] || exit 95; sleep 0.2; done`,
		`$a -s exec -e instance://${name} sh -c ${q(inside)} holdfast ${q(switchScript())}`,
	].join("\n");
}

/** Fetches an image to $f. That is a sign of life: the switch of the job knows nothing of it. */
function fetchText(apptainer: NonNullable<SlurmSettings["apptainer"]>, at: string): string {
	const lives = `while kill -0 $$ 2>/dev/null && true >${shellQuote(`${at}/inner/life`)}; do sleep 1; done </dev/null >/dev/null 2>&1 &`;
	const [, , ...words] = fetchArguments("", "", apptainer).map(shellQuote);
	return `[ -e "$f" ] || { ${lives} sh -c ${shellQuote(fetchScript())} holdfast $a "$f" ${words.join(" ")} || exit 93; }`;
}

/** The job ends with its container: what ran is gone, and a job without one would only hold its node. Where Apptainer does not tell a pid, the switch ends it later. */
function watchText(at: string, name: string): string {
	const watch = 'while kill -0 "$2" 2>/dev/null; do sleep 1; done; c=76; [ ! -e "$1/place/over" ] || c=75; echo $c >"$1/over"; kill "$(cat "$1/switch")"';
	const pid = `$a instance list --json ${name} | sed -n 's/.*"pid": *\\([0-9][0-9]*\\).*/\\1/p' | head -n 1`;
	return `p=$(${pid}); [ -z "$p" ] || setsid sh -c ${shellQuote(watch)} holdfast ${shellQuote(at)} "$p" </dev/null >/dev/null 2>&1 &`;
}

/** Returns the shell text that runs a command in the container. */
export function enterText(settings: SlurmSettings, at: string, name: string, command: string): string {
	if (settings.apptainer === undefined) return `. ${shellQuote(`${at}/place/environment`)}; cd "$HOME" 2>/dev/null || cd /; ${command}`;
	const inside = `unset PROMPT_COMMAND PS1 USER_PATH; . ${INNER_DIR}/environment; cd "$HOME" 2>/dev/null || cd /; ${command}`;
	return `a=apptainer; command -v apptainer >/dev/null 2>&1 || a=singularity; exec $a -s exec -e instance://${name} sh -c ${shellQuote(inside)}`;
}
