/**
 * Markdown of a model as elements of the page. Tokens become elements one by one; no text ever becomes HTML, so tags are shown as they were written. Pictures
 * are not loaded: an address alone can carry something away.
 */
import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { CodeBlock } from "./code.js";
import { GrowingText, isAsWritten, lex, type Token } from "./lex.js";
import { decoded, safeHref, shownCode, shownText } from "./text.js";

export function Markdown({ text }: { text: string }) {
	const tokens = useMemo(() => lex(shownText(text)), [text]);
	return <div class="ag-md">{blocks(tokens)}</div>;
}

/** The same for a text that is still arriving. */
export function ArrivingMarkdown({ text }: { text: string }) {
	const growing = useRef<GrowingText>(undefined);
	growing.current ??= new GrowingText();
	return <div class="ag-md ag-arriving">{blocks(growing.current.tokens(shownText(text)))}</div>;
}

interface Any {
	readonly type: string;
	readonly raw: string;
	readonly text?: string;
	readonly tokens?: Token[];
	readonly [key: string]: unknown;
}

const blocks = (tokens: readonly Token[]): ComponentChildren => tokens.map((token, at) => <Block key={at} token={token as unknown as Any} />);

function Block({ token }: { token: Any }) {
	const text = token.text ?? token.raw;
	switch (token.type) {
		case "space":
		case "def":
			return null;
		case "heading":
			return <Heading depth={Number(token.depth)}>{inline(token.tokens)}</Heading>;
		case "paragraph":
			return <p dir="auto">{inline(token.tokens)}</p>;
		case "text":
			return <>{token.tokens ? inline(token.tokens) : decoded(text)}</>;
		case "code":
			return isAsWritten(token as unknown as Token) ? <p class="ag-plain">{text}</p> : <CodeBlock text={shownCode(text)} language={String(token.lang ?? "")} />;
		case "blockquote":
			return <blockquote>{blocks(token.tokens ?? [])}</blockquote>;
		case "list":
			return <List token={token} />;
		case "table":
			return <Table token={token} />;
		case "hr":
			return <hr />;
		default:
			return <p class="ag-plain">{text.trimEnd()}</p>; // html, and whatever is new
	}
}

/** A message is below the page's own headings. */
function Heading({ depth, children }: { depth: number; children: ComponentChildren }) {
	const Tag = depth <= 1 ? "h3" : depth === 2 ? "h4" : "h5";
	return <Tag dir="auto">{children}</Tag>;
}

function List({ token }: { token: Any }) {
	const items = (token.items as Any[]).map((item, at) => (
		<li key={at} dir="auto" class={item.task ? "ag-task" : undefined}>
			{item.task ? <input type="checkbox" disabled checked={item.checked === true} aria-label={item.checked ? "done" : "not done"} /> : null}
			{blocks((item.tokens ?? []).filter(({ type }) => (type as string) !== "checkbox"))}
		</li>
	));
	return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ token }: { token: Any }) {
	const cells = (row: Any[], Tag: "th" | "td") =>
		row.map((cell, at) => (
			<Tag key={at} dir="auto" class={typeof cell.align === "string" ? `ag-${cell.align}` : undefined}>
				{inline(cell.tokens)}
			</Tag>
		));
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
		<div class="ag-table" tabIndex={0}>
			<table>
				<thead>
					<tr>{cells(token.header as Any[], "th")}</tr>
				</thead>
				<tbody>
					{(token.rows as Any[][]).map((row, at) => (
						<tr key={at}>{cells(row, "td")}</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}

const inline = (tokens: readonly Token[] = []): ComponentChildren => tokens.map((token, at) => <Inline key={at} token={token as unknown as Any} />);

function Inline({ token }: { token: Any }) {
	const text = token.text ?? token.raw;
	switch (token.type) {
		case "strong":
			return <strong>{inline(token.tokens)}</strong>;
		case "em":
			return <em>{inline(token.tokens)}</em>;
		case "del":
			return <del>{inline(token.tokens)}</del>;
		case "codespan":
			return <code>{shownCode(text)}</code>;
		case "br":
			return <br />;
		case "link":
			return <Link href={String(token.href)}>{inline(token.tokens)}</Link>;
		case "image":
			return <Link href={String(token.href)}>[picture: {decoded(text) || "without a name"}]</Link>;
		case "html":
			return <>{token.raw}</>; // as it was written
		case "checkbox":
			return null;
		default:
			return <>{token.tokens ? inline(token.tokens) : decoded(text)}</>;
	}
}

/** A link says where it leads, since its text can say anything. */
function Link({ href, children }: { href: string; children: ComponentChildren }) {
	const to = safeHref(href);
	if (to === undefined) return <span title={`leads nowhere: ${shownCode(href).slice(0, 200)}`}>{children}</span>;
	return (
		<a href={to} title={to} target="_blank" rel="noopener noreferrer nofollow">
			{children}
		</a>
	);
}
