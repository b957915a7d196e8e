/** A sentence of the server, which are written for programs and terminals, for a person at the page. */
export const Sentence = ({ text }: { text: string }) => (
	<>
		{asSentence(text)
			.split(/`([^`\n]+)`/)
			.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}
	</>
);

/** It begins in upper case, unless its first word is a name: an id, a path, a program. */
const asSentence = (text: string): string => (/^[a-z]+[ ,:]/.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text);
