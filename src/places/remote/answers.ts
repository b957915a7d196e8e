/** Several questions, some of them only perhaps, in one round trip; in none if they were answered with what was asked before. */
import { type Link, type LinkQuestion, questionLine } from "../link/index.js";

export interface EarlierLook {
	readonly expected: readonly LinkQuestion[];
	readonly answers: readonly (Buffer | undefined)[];
	readonly signal?: AbortSignal | undefined;
}

export async function answersFor<Name extends string>(
	link: Link,
	asked: Readonly<Record<Name, LinkQuestion | undefined>>,
	more: readonly LinkQuestion[],
	before: EarlierLook,
): Promise<{ named: Partial<Record<Name, Buffer>>; rest: (Buffer | undefined)[]; questions: readonly LinkQuestion[]; expected: boolean }> {
	const names = (Object.keys(asked) as Name[]).filter((name) => asked[name] !== undefined);
	const questions = [...names.map((name) => asked[name] as LinkQuestion), ...more];
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
function had(questions: readonly LinkQuestion[], { expected, answers }: EarlierLook): readonly (Buffer | undefined)[] | undefined {
	if (answers.length !== questions.length || expected.length !== questions.length) return undefined;
	return questions.every((question, index) => questionLine(question) === questionLine(expected[index] as LinkQuestion)) ? answers : undefined;
}
