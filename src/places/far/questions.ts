/**
 * Small questions to another machine, many in one go: what is in a file, where a link leads, what is in a piece of memory. Answered by perl,
 * where there is one, or by a tool each. All is asked through sh text and comes back as bytes, so what is behind each
 * answer is a mark: made anew each time, and in the text only in two halves, so that no answer can have it in it.
 */
import { randomBytes } from "node:crypto";
import { HoldfastError } from "../../base/errors.js";
import { shellQuote } from "../../base/quote.js";

/** Runs POSIX sh text there. */
export type Runs = (script: string) => Promise<{ readonly status: number; readonly output: Buffer }>;

export type Question =
	| { readonly ask: "content" | "link" | "inode" | "names"; readonly path: string }
	| { readonly ask: "memory"; readonly pid: number; readonly address: bigint; readonly length: number };

/** The answers in the same order; undefined where there is none to be had. */
export type Looks = (questions: readonly Question[]) => Promise<(Buffer | undefined)[]>;

const AT_ONCE = 200; // in one script

export const looksBy =
	(run: Runs): Looks =>
	async (questions) => {
		const answers: (Buffer | undefined)[] = [];
		for (let at = 0; at < questions.length; at += AT_ONCE) answers.push(...(await lookOnce(run, questions.slice(at, at + AT_ONCE))));
		return answers;
	};

async function lookOnce(run: Runs, questions: readonly Question[]): Promise<(Buffer | undefined)[]> {
	const [first, second] = [randomBytes(12).toString("hex"), randomBytes(12).toString("hex")];
	const plain = questions.map((question) => `${plainly(question)} 2>/dev/null; e $?`).join("\n");
	const words = questions.flatMap((question) => [question.ask, subject(question)]).map(shellQuote);
	const { output } = await run(`${SETUP}
e() { printf '\\n%s%s %s\\n' ${first} ${second} "$1"; }
perl -e ${shellQuote(PERL)} ${first} ${second} ${words.join(" ")} 2>/dev/null || {
${plain}
}`);
	return answersIn(output, `\n${first}${second} `, questions.length);
}

/** Whatever language its user has chosen, the tools are to speak English. */
export const SETUP = "LC_ALL=C; export LC_ALL";

/** Nothing is printed before all is known: who fails on the way has said nothing. */
const PERL = `
my ($first, $second) = splice @ARGV, 0, 2;
my $said = '';
while (@ARGV) {
	my ($ask, $of) = splice @ARGV, 0, 2;
	my $found;
	if ($ask eq 'content') { if (open my $f, '<', $of) { local $/; $found = <$f> } }
	elsif ($ask eq 'link') { $found = readlink $of }
	elsif ($ask eq 'inode') { my @s = stat $of; $found = "$s[0] $s[6]" if @s }
	elsif ($ask eq 'names') { if (opendir my $d, $of) { $found = join '', map { "$_\\0" } grep { !/^\\.\\.?$/ } readdir $d } }
	elsif ($ask eq 'memory') {
		my ($pid, $address, $length) = split / /, $of;
		my $piece;
		if (open my $f, '<:raw', "/proc/$pid/mem") { $found = $piece if sysseek($f, $address, 0) && (sysread($f, $piece, $length) || 0) == $length }
	}
	$said .= (defined $found ? $found : '') . "\\n$first$second " . (defined $found ? 0 : 1) . "\\n";
}
binmode STDOUT;
print $said;
close STDOUT or exit 1;`;

const subject = (question: Question): string => (question.ask === "memory" ? `${question.pid} ${question.address} ${question.length}` : question.path);

function plainly(question: Question): string {
	if (question.ask === "memory") return `dd if=/proc/${question.pid}/mem bs=1 skip=${question.address} count=${question.length}`;
	const path = shellQuote(question.path);
	return { content: `cat ${path}`, link: `readlink -n ${path}`, inode: `stat -L -c '%d %t %T' ${path}`, names: `ls -A ${path}` }[question.ask];
}

function answersIn(output: Buffer, mark: string, count: number): (Buffer | undefined)[] {
	const answers: (Buffer | undefined)[] = [];
	for (let at = 0; answers.length < count; ) {
		const end = output.indexOf(mark, at);
		const next = output.indexOf(10, end + mark.length);
		if (end < 0 || next < 0) throw new HoldfastError("INTERNAL", "the other machine answered less than it was asked; try again");
		const good = output.toString("latin1", end + mark.length, next) === "0";
		answers.push(good ? output.subarray(at, end) : undefined);
		at = next + 1;
	}
	return answers;
}
