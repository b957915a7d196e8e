/** Matches names with patterns: `*` within a name, `**` across directories, `?`, `[…]`, `{a,b}`. */
import { byName } from "../../base/index.js";

const MOST = 64;

/** Expands `{a,b}`. */
export function expanded(glob: string): string[] {
	const match = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(glob);
	if (!match) return [glob];
	const [, head = "", middle = "", tail = ""] = match;
	return middle
		.split(",")
		.flatMap((part) => expanded(`${head}${part}${tail}`))
		.slice(0, MOST);
}

/** Returns a matcher for paths. A glob without a slash is compared with the last part of a path. */
export function matcherOf(glob: string): (name: string) => boolean {
	const patterns = expanded(glob).map((one) => ({ whole: one.includes("/"), pattern: patternOf(one.replace(/^\.?\//, "")) }));
	return (name) => patterns.some(({ whole, pattern }) => pattern.test(whole ? name : name.slice(name.lastIndexOf("/") + 1)));
}

function patternOf(glob: string): RegExp {
	const source = glob.replace(/\*\*\/|\*\*|\*|\?|\[!?[^\]/]+\]|[\s\S]/g, (part) => {
		if (part === "**/") return "(?:.*/)?";
		if (part === "**") return ".*";
		if (part === "*") return "[^/]*";
		if (part === "?") return "[^/]";
		if (part.length > 1) return part.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
		return part.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
	});
	return new RegExp(`^${source}$`, "s");
}

/** Returns patterns for the last part of a path, in a syntax that every search program understands; undefined: any name. */
export function lastParts(glob: string): string[] | undefined {
	const parts = expanded(glob).map((one) => one.slice(one.lastIndexOf("/") + 1));
	return parts.some((part) => part === "" || part.includes("**")) ? undefined : parts;
}

const TYPES = byName<readonly string[]>({
	c: ["*.c", "*.h"],
	cpp: ["*.cpp", "*.cc", "*.cxx", "*.hpp", "*.hh", "*.h"],
	cs: ["*.cs"],
	css: ["*.css", "*.scss", "*.less"],
	go: ["*.go"],
	html: ["*.html", "*.htm"],
	java: ["*.java"],
	js: ["*.js", "*.jsx", "*.mjs", "*.cjs"],
	json: ["*.json", "*.jsonl"],
	kotlin: ["*.kt", "*.kts"],
	lua: ["*.lua"],
	make: ["Makefile", "makefile", "*.mk"],
	md: ["*.md", "*.markdown"],
	perl: ["*.pl", "*.pm"],
	php: ["*.php"],
	py: ["*.py", "*.pyi"],
	ruby: ["*.rb"],
	rust: ["*.rs"],
	sh: ["*.sh", "*.bash", "*.zsh"],
	sql: ["*.sql"],
	swift: ["*.swift"],
	toml: ["*.toml"],
	ts: ["*.ts", "*.tsx", "*.mts", "*.cts"],
	txt: ["*.txt"],
	xml: ["*.xml", "*.svg"],
	yaml: ["*.yaml", "*.yml"],
});
const ALSO = byName<string>({
	python: "py",
	javascript: "js",
	typescript: "ts",
	markdown: "md",
	rs: "rust",
	rb: "ruby",
	shell: "sh",
	bash: "sh",
	yml: "yaml",
	"c++": "cpp",
	kt: "kotlin",
});

export const typeNames = (): string => Object.keys(TYPES).join(", ");
export const globsOfType = (type: string): readonly string[] | undefined => TYPES[ALSO[type.toLowerCase()] ?? type.toLowerCase()];
