/** Checks that are only about words and flags, for programs with subcommands. */
import { hasFlag, is, says } from "./flags.js";
import type { Found } from "./found.js";
import { gitWords } from "./git.js";

export function changesServices(command: Found): boolean {
	return (
		is(command, "service", "rc-service", "launchctl", "initctl") &&
		says(command, /\b(?:start|stop|restart|reload|load|unload|bootstrap|bootout|kickstart|remove|disable|enable|kill)\b/)
	);
}

export function forcePushes(command: Found): boolean {
	const [verb, ...rest] = gitWords(command);
	if (verb !== "push") return false;
	if (hasFlag({ args: command.args.slice(-rest.length) }, "-f|--force|--force-with-lease|--force-if-includes|--mirror|--delete|-d|--prune"))
		return rest.length > 0;
	return rest.some((text, at) => text.startsWith("+") || (at > 0 && text.startsWith(":")));
}

export function rewritesHistory(command: Found): boolean {
	const [verb = "", ...rest] = gitWords(command);
	const flag = (flags: string) => rest.length > 0 && hasFlag({ args: command.args.slice(-rest.length) }, flags);
	switch (verb) {
		case "filter-branch":
		case "filter-repo":
			return true;
		case "reset":
			return flag("--hard|--merge");
		case "clean":
			return flag("-f|--force") && !flag("-n|--dry-run");
		case "stash":
			return rest[0] === "clear" || rest[0] === "drop";
		case "reflog":
			return rest[0] === "expire" || rest[0] === "delete";
		case "gc":
			return rest.some((text) => /^--prune=(now|all)/.test(text));
		case "update-ref":
			return flag("-d");
		case "checkout":
		case "restore":
			return rest.some((text) => text === "." || text === ":/" || text === "*") && !flag("--staged|-S");
		default:
			return false;
	}
}

const PUBLISHERS: Readonly<Record<string, RegExp>> = {
	npm: /^(?:publish|unpublish|deprecate|dist-tag (?:add|rm)|owner)\b/,
	pnpm: /^publish\b/,
	yarn: /^(?:npm )?publish\b/,
	bun: /^publish\b/,
	cargo: /^(?:publish|yank|owner)\b/,
	twine: /^upload\b/,
	poetry: /^publish\b/,
	uv: /^publish\b/,
	flit: /^publish\b/,
	hatch: /^publish\b/,
	gem: /^(?:push|yank)\b/,
	docker: /^(?:push|image push)\b/,
	podman: /^push\b/,
	helm: /^push\b/,
	gh: /^(?:release (?:create|delete|edit|upload)|repo (?:delete|edit|create|archive)|pr merge|gist create)\b/,
	vsce: /^publish\b/,
	ovsx: /^publish\b/,
	mvn: /\bdeploy\b/,
	gradle: /\bpublish\b/,
	lerna: /^publish\b/,
	changeset: /^publish\b/,
	jsr: /^publish\b/,
};

export function publishes(command: Found): boolean {
	if (hasFlag(command, "--dry-run|-n")) return false;
	return command.names.some((name) => PUBLISHERS[name] !== undefined && says(command, PUBLISHERS[name]));
}

export function shutsDown(command: Found): boolean {
	if (is(command, "shutdown", "reboot", "halt", "poweroff")) return !hasFlag(command, "--help|--version|-c");
	if (is(command, "init", "telinit")) return says(command, /^[06]$/);
	return is(command, "systemctl", "loginctl") && says(command, /^(?:reboot|poweroff|halt|kexec|suspend|hibernate|rescue|emergency|soft-reboot)\b/);
}

const DOWN: Readonly<Record<string, RegExp>> = {
	terraform: /^(?:destroy|apply|state rm|workspace delete)\b/,
	tofu: /^(?:destroy|apply|state rm|workspace delete)\b/,
	terragrunt: /\b(?:destroy|apply)\b/,
	pulumi: /^(?:destroy|up|update|stack rm)\b/,
	cdk: /^destroy\b/,
	serverless: /^remove\b/,
	sls: /^remove\b/,
	kubectl: /^(?:delete|drain)\b/,
	oc: /^(?:delete|adm drain)\b/,
	helm: /^(?:uninstall|delete)\b/,
	eksctl: /^delete\b/,
	aws: /\b(?:s3 rb|delete-\w+|terminate-instances)\b/,
	gcloud: /\bdelete\b/,
	az: /\bdelete\b/,
	doctl: /\bdelete\b/,
	fly: /\bdestroy\b/,
	flyctl: /\bdestroy\b/,
	docker: /^(?:volume (?:rm|remove|prune)|compose down -v)\b/,
	podman: /^volume (?:rm|remove|prune)\b/,
	heroku: /\bdestroy\b/,
	vagrant: /^destroy\b/,
	virsh: /^(?:undefine|destroy|vol-delete)\b/,
};

export function takesDown(command: Found): boolean {
	if (command.names.some((name) => DOWN[name] !== undefined && says(command, DOWN[name]))) return !hasFlag(command, "--dry-run|-help|--help");
	if (is(command, "kubectl", "oc"))
		return (says(command, /^replace\b/) && hasFlag(command, "--force")) || (says(command, /^apply\b/) && hasFlag(command, "--prune"));
	if (is(command, "aws")) return says(command, /^s3 (?:rm|sync)\b/) && hasFlag(command, "--recursive|--delete");
	if (is(command, "docker", "podman"))
		return (
			(says(command, /^system prune\b/) && hasFlag(command, "--volumes|-a|--all")) ||
			(says(command, /^compose\b.*\bdown\b/) && hasFlag(command, "-v|--volumes"))
		);
	return is(command, "docker-compose") && says(command, /\bdown\b/) && hasFlag(command, "-v|--volumes");
}
