/** Shown in place of content: that there is none, that it is loading, or that it failed and what to do. */
import type { ComponentChildren } from "preact";
import { Sentence } from "./sentence.js";

/** `whole`: it is all that the page has, so its title is the page's. */
export const Empty = ({ title, whole = false, children }: { title: string; whole?: boolean; children?: ComponentChildren }) => (
	<section class="said">
		{whole ? <h1>{title}</h1> : <h2>{title}</h2>}
		{children}
	</section>
);

export const Loading = ({ what }: { what: string }) => (
	<p class="said quiet" role="status">
		<span class="beat">Getting {what} …</span>
	</p>
);

export const Failed = ({ error, children }: { error: unknown; children?: ComponentChildren }) => (
	<section class="said bad" role="alert">
		<h2>That did not work</h2>
		<p>
			<Sentence text={messageOf(error)} />
		</p>
		{children}
	</section>
);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
