import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { decide } from "../../src/policy/decide.js";
import { plainTree } from "../../src/policy/plain.js";
import { loadParser, ParserMissing, parseByGrammar } from "../../src/policy/tree.js";
import { readCorpora } from "./corpora.js";

const cwd = "/srv/app";
/** What bash or the grammar knows, and pieces that mean something in other places. */
const FIRST =
	"! [ [[ { if then else elif fi for while until select do done case esac in function time coproc declare typeset export readonly local unset unsetenv eval exec let test return exit break continue source . : true git sh sudo env ./x /bin/ls a.sh a-b 1 12 -1 _ a:b A=1 a=b ~ ~/x".split(
		" ",
	);
const REST =
	"status -la --all=1 10 -5 +1 0x1f 0x10 10#5 1a - -- -eq -f @foo a@b %2 a,b a:b ../y . .. ~ ~root a=b =x x= in do done esac fi } ) ! != == # #a a#b * ? [a] {a,b} $x \\ 'q' \"q\" ; & | > < `x` é \t \n".split(
		" ",
	);

test("before the parser is there plain commands are decided, and others say what comes first", () => {
	expect(decide("git push --force origin main", { cwd })).toMatchObject({ decision: "ask" });
	expect(decide("git status", { cwd })).toMatchObject({ decision: "allow", parts: [{ program: "git" }] });
	expect(() => decide("git status; ls", { cwd })).toThrow(ParserMissing);
});

describe("a plain command", () => {
	beforeAll(() => loadParser());

	test("is read as the grammar reads it, in the corpora and in every short mixture of words", () => {
		const texts = ["attacks", "everyday"].flatMap(readCorpora).flatMap(({ command }) => command.split("\n"));
		texts.push(...fs.readFileSync(path.join(import.meta.dirname, "corpus.txt"), "utf8").split("\n"));
		for (const first of FIRST)
			for (const second of ["", ...REST, ...FIRST]) for (const third of ["", "x", "-5"]) texts.push([first, second, third].filter(Boolean).join(" "));
		const plain = texts.filter((text) => plainTree(text));
		for (const text of plain) expect(parseByGrammar(text), text).toEqual({ root: plainTree(text), broken: null });
		expect(plain.length).toBeGreaterThan(1_000);
	});

	test("is nothing that is quoted, expanded, assigned, redirected, joined, commented, spread over lines, or begins with a word of the grammar's", () => {
		for (const text of [
			"a=1",
			"a b=$c",
			"a 'b'",
			"a > b",
			"a; b",
			"a & b",
			"a #b",
			"a\nb",
			" a",
			"a ",
			"a  b",
			"",
			"if x",
			"export a",
			"a é",
			"a ~",
			"a *",
			"x".repeat(1_001),
		])
			expect(plainTree(text), text).toBeNull();
	});
});
