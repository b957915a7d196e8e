/** Detects commands that belong in the background: servers and similar programs, and commands that detach themselves. */
import type { Simple } from "./lex.js";
import { type ProgramCall, programOf } from "./words.js";

const AWAY = "start it with background=true instead: then its output, its end and its exit code can be asked for, and kill ends all of it";

/** `ended`: it ended by itself, so it is no server; a failed command needs other advice. */
export function backgroundHint(commands: readonly Simple[], ended: "well" | "failed" | undefined): string | undefined {
	if (ended === "failed") return undefined;
	const programs = commands.map(programOf).filter((program) => program !== undefined);
	const detacher = programs.find(({ name }) => name === "nohup" || name === "setsid" || name === "disown");
	if (detacher) return `\`${detacher.name}\` hides what it starts from you; ${AWAY.replace("start it", "start the command itself")}.`;
	if (commands.at(-1)?.end === "&") return `The command ends in \`&\`, so what it left running is not tracked; without the & ${AWAY}.`;
	const server = ended === undefined ? programs.find(staysUp) : undefined;
	if (server) return `\`${[server.name, ...server.args].join(" ").slice(0, 60)}\` looks like something that does not end by itself; ${AWAY}.`;
	return undefined;
}

const ASKS = /^(?:--help|-h|--version|-V|help|version)$/;

function staysUp(program: ProgramCall): boolean {
	if (program.args.some((arg) => ASKS.test(arg))) return false;
	const line = [program.name, ...program.args].join(" ");
	return SERVERS.some((server) => server.test(line));
}

/** Program and arguments, joined by spaces. Only clear cases: a wrong hint is worse than none. */
const SERVERS: readonly RegExp[] = [
	/^(?:npm|pnpm|yarn|bun)(?: run)? (?:dev|start|serve|watch|preview|develop|storybook)(?= |$)/,
	/^python[\d.]* -m (?:http\.server|flask run|uvicorn|gunicorn|jupyter)\b/,
	/^(?:python[\d.]* )?(?:\S*\/)?manage\.py runserver\b/,
	/^(?:uvicorn|gunicorn|hypercorn|daphne|nodemon|http-server|live-server|json-server|redis-server|ngrok|caddy run|webpack-dev-server)(?= |$)/,
	/^flask(?: --?\S+(?: \S+)?)* run\b/,
	/^(?:rails (?:s|server)|ng serve|next (?:dev|start)|nuxt (?:dev|start)|astro (?:dev|preview)|gatsby develop)(?= |$)/,
	/^vite(?: dev| serve| preview)?(?: --?\S+(?: \S+)?)*$/,
	/^(?:hugo server|jekyll serve|mkdocs serve|webpack serve|php -S|streamlit run|jupyter (?:lab|notebook)|kubectl port-forward|cargo watch)\b/,
	/^(?:docker[ -]compose|podman-compose) (?:-\S+ \S+ )*up(?!.* (?:-d|--detach|--wait)(?= |$))/,
	/^(?:node|deno run|bun|bun run|python[\d.]*|ruby) (?:-\S+ )*(?:\S*\/)?server\.(?:[cm]?[jt]s|py|rb)(?= |$)/,
	/^(?:tsc|esbuild|rollup|webpack|vitest|jest|tailwindcss|sass)(?= ).* (?:--watch|-w|--watchAll)(?= |$)/,
	/^tail (?:.* )?(?:-f|-F|--follow)(?= |$|=)/,
];
