/** Several questions, some of them only perhaps, in one round trip. */
import type { Link, Question } from "../link/index.js";

export async function answersFor<Name extends string>(
	link: Link,
	asked: Readonly<Record<Name, Question | undefined>>,
	more: readonly Question[],
	signal?: AbortSignal,
): Promise<{ named: Partial<Record<Name, Buffer>>; rest: (Buffer | undefined)[] }> {
	const names = (Object.keys(asked) as Name[]).filter((name) => asked[name] !== undefined);
	const answers = await link.look([...names.map((name) => asked[name] as Question), ...more], signal);
	const named: Partial<Record<Name, Buffer>> = {};
	for (const [index, name] of names.entries()) {
		const answer = answers[index];
		if (answer) named[name] = answer;
	}
	return { named, rest: answers.slice(names.length) };
}
