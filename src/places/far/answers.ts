/** Several questions, some of them only perhaps, in one round trip; in none if they were answered with what was asked before. */
import { type Link, type Question, questionLine } from "../link/index.js";

export interface Before {
	readonly expected: readonly Question[];
	readonly answers: readonly (Buffer | undefined)[];
	readonly signal?: AbortSignal | undefined;
}

export async function answersFor<Name extends string>(
	link: Link,
	asked: Readonly<Record<Name, Question | undefined>>,
	more: readonly Question[],
	before: Before,
): Promise<{ named: Partial<Record<Name, Buffer>>; rest: (Buffer | undefined)[]; questions: readonly Question[]; expected: boolean }> {
	const names = (Object.keys(asked) as Name[]).filter((name) => asked[name] !== undefined);
	const questions = [...names.map((name) => asked[name] as Question), ...more];
	const known = had(questions, before);
	const answers = known ?? (await link.look(questions, before.signal));
	const named: Partial<Record<Name, Buffer>> = {};
	for (const [index, name] of names.entries()) {
		const answer = answers[index];
		if (answer) named[name] = answer;
	}
	return { named, rest: answers.slice(names.length), questions, expected: known !== undefined };
}

/** All of them, in this very order: what is asked first must have been looked at first. */
function had(questions: readonly Question[], { expected, answers }: Before): readonly (Buffer | undefined)[] | undefined {
	if (answers.length !== questions.length || expected.length !== questions.length) return undefined;
	return questions.every((question, index) => questionLine(question) === questionLine(expected[index] as Question)) ? answers : undefined;
}
