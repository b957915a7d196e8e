/** The top of the page: where one can go, and what can be done from everywhere. */
import { pending } from "../state/approvals.js";
import { dialog } from "../state/dialogs.js";
import { askPermission, permission, supported } from "../state/notify.js";
import { waiting } from "../state/processes.js";
import { href } from "../state/route.js";
import { session } from "../state/start.js";
import { Button } from "../ui/button.js";
import { Drawing, Icon, type IconName } from "../ui/icon.js";
import { tell } from "../ui/toasts.js";
import { useRoving } from "../ui/use-roving.js";

/** Of a part that brings none. */
const PART_ICON = "M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM11 9v4M9 11h4";

export function Top({ view, part }: { view: string; part: string }) {
	const bar = useRoving<HTMLElement>("a, button");
	return (
		<header ref={bar} class="top">
			<a class="wordmark" href={href([])} aria-label="Holdfast, to the list">
				<svg viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" stroke-linecap="round">
					<path d="M4 2v12M4 8c5 0 8-1 8-5.5M4 8c5 0 8 1 8 5.5" />
				</svg>
				holdfast
			</a>
			<nav class="nav" aria-label="Views">
				<NavLink
					to=""
					icon="terminals"
					word="Terminals"
					here={view === "" || view === "p" || view === "side"}
					count={waiting.value.length}
					counted="wait for input"
				/>
				{session.value?.parts.map(({ name, label, icon }) => (
					<NavLink key={name} to={["parts", name]} icon={{ path: icon ?? PART_ICON }} word={label} here={view === "parts" && part === name} />
				))}
				<NavLink to="wall" icon="wall" word="Wall" here={view === "wall"} />
				<NavLink to="approvals" icon="approvals" word="Approvals" here={view === "approvals"} count={pending.value.length} counted="to answer" />
				<NavLink to="timeline" icon="timeline" word="Timeline" here={view === "timeline"} />
				<NavLink to="files" icon="files" word="Files" here={view === "files"} />
				<NavLink to="search" icon="search" word="Search" here={view === "search"} />
			</nav>
			<div class="tools">
				{supported && permission.value === "default" && (
					<Button icon="bell" label="Tell me by notifications when something waits for me" kind="bare" onClick={() => tell(askPermission())} />
				)}
				<Button icon="settings" label="Settings" kind="bare" onClick={() => (dialog.value = "settings")} />
				<Button icon="plus" kind="primary" label="Start something" onClick={() => (dialog.value = "start")}>
					New
				</Button>
			</div>
		</header>
	);
}

interface NavProps {
	readonly to: string | readonly string[];
	readonly icon: IconName | { readonly path: string };
	readonly word: string;
	readonly here: boolean;
	readonly count?: number;
	readonly counted?: string;
}

const NavLink = ({ to, icon, word, here, count = 0, counted }: NavProps) => (
	<a href={href(typeof to !== "string" ? to : to ? [to] : [])} aria-current={here ? "page" : undefined}>
		{typeof icon === "string" ? <Icon name={icon} /> : <Drawing path={icon.path} />}
		<span class="word">{word}</span>
		{count > 0 && (
			<span class="count">
				{count}
				<span class="hidden"> {counted}</span>
			</span>
		)}
	</a>
);
