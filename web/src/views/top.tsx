/** The top of the page: where one can go, and what can be done from everywhere. */
import { pending } from "../state/approvals.js";
import { askPermission, permission, supported } from "../state/notify.js";
import { waiting } from "../state/processes.js";
import { href } from "../state/route.js";
import { theme, toggleTheme } from "../state/theme.js";
import { Button } from "../ui/button.js";
import { Icon, type IconName } from "../ui/icon.js";
import { tell } from "../ui/toasts.js";

export function Top({ view, onStart }: { view: string; onStart: () => void }) {
	return (
		<header class="top">
			<a class="wordmark" href={href([])} aria-label="Holdfast, to the list">
				<svg viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" stroke-linecap="round">
					<path d="M4 2v12M4 8c5 0 8-1 8-5.5M4 8c5 0 8 1 8 5.5" />
				</svg>
				holdfast
			</a>
			<nav class="nav" aria-label="Views">
				<NavLink to="" icon="terminals" word="Terminals" here={view === "" || view === "p"} count={waiting.value.length} counted="wait for input" />
				<NavLink to="approvals" icon="approvals" word="Approvals" here={view === "approvals"} count={pending.value.length} counted="to answer" />
				<NavLink to="timeline" icon="timeline" word="Timeline" here={view === "timeline"} />
				<NavLink to="files" icon="files" word="Files" here={view === "files"} />
				<NavLink to="search" icon="search" word="Search" here={view === "search"} />
			</nav>
			<div class="tools">
				{supported && permission.value === "default" && (
					<Button icon="bell" label="Tell me by notifications when something waits for me" kind="bare" onClick={() => tell(askPermission())} />
				)}
				<Button
					icon={theme.value === "dark" ? "sun" : "moon"}
					label={theme.value === "dark" ? "To light colours" : "To dark colours"}
					kind="bare"
					onClick={toggleTheme}
				/>
				<Button icon="plus" kind="primary" label="Start something" onClick={onStart}>
					New
				</Button>
			</div>
		</header>
	);
}

interface NavProps {
	readonly to: string;
	readonly icon: IconName;
	readonly word: string;
	readonly here: boolean;
	readonly count?: number;
	readonly counted?: string;
}

const NavLink = ({ to, icon, word, here, count = 0, counted }: NavProps) => (
	<a href={href(to ? [to] : [])} aria-current={here ? "page" : undefined}>
		<Icon name={icon} />
		<span class="word">{word}</span>
		{count > 0 && (
			<span class="count">
				{count}
				<span class="hidden"> {counted}</span>
			</span>
		)}
	</a>
);
