/** The tasks that have done something, each with the way to its transcript. */
import { visible } from "../../../src/base/text.js";
import { taskLogs } from "../api/calls.js";
import { now } from "../state/clock.js";
import { href } from "../state/route.js";
import { logged } from "../state/task-log.js";
import { ago } from "../ui/format.js";
import { Empty, Failed, Loading } from "../ui/said.js";
import { useLoaded } from "../ui/use-loaded.js";
import { LeftBehind } from "./left-behind.js";

export function TasksPage() {
	const { value, error } = useLoaded(taskLogs, [logged.value.task]);
	return (
		<div class="page task-log">
			<header class="page-head">
				<h1>What tasks did</h1>
			</header>
			<LeftBehind />
			{error ? (
				<Failed error={error} />
			) : !value ? (
				<Loading what="the tasks" />
			) : value.tasks.length === 0 ? (
				<Empty title="No task has done anything yet">
					<p>As soon as an agent runs a command, its task is here.</p>
				</Empty>
			) : (
				<ul class="entries">
					{value.tasks.map(({ task, last_activity }) => (
						<li key={task} class="entry">
							<a href={href(["t", task])}>{visible(task)}</a> <small class="quiet">{ago((now.value - Date.parse(last_activity)) / 1_000)}</small>
						</li>
					))}
				</ul>
			)}
		</div>
	);
}
