/** Checks that are only about words and flags, for programs with subcommands. */
import { byName } from "../base/index.js";
import { hasFlag, is, says, words } from "./flags.js";
import type { FoundCommand } from "./found.js";
import { gitWords } from "./git.js";
import { valuesOf } from "./options.js";
import { UNKNOWN } from "./word.js";

export function changesServices(command: FoundCommand): boolean {
	return (
		is(command, "service", "rc-service", "launchctl", "initctl") &&
		says(command, /\b(?:start|stop|restart|reload|load|unload|bootstrap|bootout|kickstart|remove|disable|enable|kill)\b/)
	);
}

export function forcePushes(command: FoundCommand): boolean {
	const [verb, ...rest] = gitWords(command);
	if (verb === "send-pack") return hasFlag(command, "--force|--mirror");
	if (verb !== "push") return false;
	if (
		rest.some(
			(text) => /^--\w{3}/.test(text) && ["--force-with-lease", "--mirror", "--delete", "--prune"].some((flag) => flag.startsWith(text.replace(/=.*$/s, ""))),
		)
	)
		return true; // options may be cut short
	if (hasFlag({ args: command.args.slice(-rest.length) }, "-f|--force|--force-with-lease|--force-if-includes|--mirror|--delete|-d|--prune"))
		return rest.length > 0;
	return rest.some((text, at) => text.startsWith("+") || (at > 0 && text.startsWith(":")));
}

export function rewritesHistory(command: FoundCommand): boolean {
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
			return !flag("--stdin|--no-deref") || flag("-d");
		case "branch":
			return (
				flag("-f|--force|-M") ||
				(flag("-D") &&
					(rest.filter((text) => !text.startsWith("-")).length > 1 || rest.some((text) => /^(?:main|master|develop|trunk|production)$|\0/.test(text))))
			);
		case "tag":
			return flag("-d|--delete") && rest.some((text) => text.includes(UNKNOWN));
		case "switch":
			return flag("-f|--force|--discard-changes");
		case "worktree":
			return rest[0] === "remove" && flag("-f|--force");
		case "rebase":
			return flag("--root"); // from the first commit on
		case "rm":
			return flag("-r") && rest.some((text) => text === "." || text === "*" || text === ":/");
		case "read-tree":
			return flag("-u") && flag("--reset");
		case "checkout-index":
			return flag("-a|--all") && flag("-f|--force");
		case "checkout":
			return flag("-f|--force") || rest.some((text) => text === "." || text === ":/" || text === "*");
		case "restore":
			return rest.some((text) => text === "." || text === ":/" || text === "*") && (!flag("--staged|-S") || flag("--worktree|-W"));
		default:
			return false;
	}
}

const PUBLISHERS = byName<RegExp>({
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
	git: /^(?:remote set-url\b|(?:lfs )?push (?:\S+:\/\/|[\w.-]+@[\w.-]+:)|send-email\b)/,
	hg: /^push \S+:\/\//,
	svn: /^(?:delete|del|remove|rm|import|mkdir|move|mv|copy|cp)\b.*:\/\//,
	p4: /^obliterate\b/,
	"semantic-release": /^/,
	np: /^/,
	"release-it": /^/,
	gradlew: /\bpublish\b/,
	glab: /^(?:repo (?:delete|archive|transfer)|variable (?:set|delete)|ssh-key add|release (?:create|delete|upload)|mr merge)\b/,
	gh: /^(?:secret (?:set|delete|remove)|variable delete|ssh-key add|gpg-key add|release (?:create|delete|edit|upload)|repo (?:delete|edit|create|archive)|pr merge|gist create)\b/,
	vsce: /^publish\b/,
	ovsx: /^publish\b/,
	mvn: /\bdeploy\b/,
	gradle: /\bpublish\b/,
	lerna: /^publish\b/,
	changeset: /^publish\b/,
	jsr: /^publish\b/,
});

export function publishes(command: FoundCommand): boolean {
	if (hasFlag(command, "--dry-run|-n")) return false;
	if (is(command, "gh") && says(command, /^api\b/))
		return command.args.some(({ text }, at) => /^(?:DELETE|PATCH|PUT)$/i.test(text) && /^(?:-X|--method)$/.test(command.args[at - 1]?.text ?? ""));
	if (is(command, "docker", "podman") && says(command, /\bbuild\b/) && hasFlag(command, "--push")) return true;
	if (is(command, "hg") && says(command, /^push\b/) && hasFlag(command, "-f|--force")) return true;
	if (is(command, "git") && gitWords(command)[0] === "push") {
		const redirected = command.args.some(({ text }) => /^(?:remote\..*\.(?:push)?url|url\..*\.(?:push)?insteadof)=/i.test(text));
		if (redirected || valuesOf(command, /^--repo$/, /^--repo=(.+)$/s).some(({ text }) => /:\/\/|@.*:/.test(text))) return true;
	}
	return command.names.some((name) => PUBLISHERS[name] !== undefined && says(command, PUBLISHERS[name]));
}

export function shutsDown(command: FoundCommand): boolean {
	if (is(command, "shutdown", "reboot", "halt", "poweroff")) return !hasFlag(command, "--help|--version|-c");
	if (is(command, "dbus-send", "busctl", "gdbus"))
		return command.args.some(({ text }) => /\b(?:PowerOff|Reboot|Halt|Suspend|Hibernate|Logout|Terminate\w+|Kill\w+)\b/.test(text));
	if (is(command, "loginctl") && says(command, /^(?:terminate|kill)-/)) return true;
	if (is(command, "systemctl") && says(command, /^exit\b/)) return true;
	if (is(command, "init", "telinit")) return says(command, /^[06]$/);
	return is(command, "systemctl", "loginctl") && says(command, /^(?:reboot|poweroff|halt|kexec|suspend|hibernate|rescue|emergency|soft-reboot)\b/);
}

const DOWN = byName<RegExp>({
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
	podman: /^(?:volume (?:rm|remove|prune)|system reset)\b/,
	heroku: /\bdestroy\b/,
	vagrant: /^destroy\b/,
	virsh: /^(?:undefine|destroy|vol-delete|snapshot-delete)\b/,
	// Backups, snapshots, what was put aside, remote stores.
	borg: /^(?:delete|prune|compact|recreate)\b/,
	restic: /^(?:forget|prune|key (?:remove|passwd)|rewrite)\b/,
	duplicity: /^(?:remove-|cleanup)/,
	rsnapshot: /\b(?:hourly|daily|weekly|monthly|sync|alpha|beta)\b/,
	snapper: /^(?:delete|rm|undochange|rollback|modify)\b/,
	"trash-empty": /^/,
	bleachbit: /^\S/,
	influx: /^(?:delete|bucket delete|org delete)\b/,
	rclone: /^(?:purge|delete|deletefile|sync|move|moveto|rmdirs?|cleanup|dedupe) .*\w:/,
	gsutil: /^(?:rm|rb|mv)\b|^rsync\b.*-d/,
	mc: /^(?:rm|rb|mirror)\b/,
	s3cmd: /^(?:del|rm|rb|sync)\b/,
	b2: /^(?:delete|rm)\b/,
	VBoxManage: /^unregistervm\b/,
	lxc: /^(?:delete|storage (?:delete|volume delete))\b/,
	incus: /^(?:delete|storage (?:delete|volume delete))\b/,
	limactl: /^(?:delete|rm)\b/,
	multipass: /^(?:delete|purge)\b/,
	vercel: /^(?:rm|remove)\b/,
	wrangler: /\bdelete\b/,
	netlify: /\bdelete\b/,
});

export function takesDown(command: FoundCommand): boolean {
	if (command.names.some((name) => DOWN[name] !== undefined && says(command, DOWN[name]))) return !hasFlag(command, "--dry-run|-help|--help");
	if (is(command, "timeshift")) return command.args.some(({ text }) => /^--(?:delete|restore)/.test(text));
	if (is(command, "rdiff-backup")) return command.args.some(({ text }) => /^(?:--)?(?:remove|restore)/.test(text));
	if (is(command, "kubectl", "oc"))
		return (says(command, /^replace\b/) && hasFlag(command, "--force")) || (says(command, /^apply\b/) && hasFlag(command, "--prune"));
	if (is(command, "aws")) return says(command, /^s3 (?:rm|sync)\b/) && hasFlag(command, "--recursive|--delete");
	if (is(command, "docker", "podman"))
		return (
			(says(command, /^(?:container )?(?:kill|stop|rm|restart|pause)\b/) &&
				words(command).some(({ text }) => text.includes(UNKNOWN)) &&
				command.upstream.some((one) => is(one, "docker", "podman"))) ||
			(says(command, /^system prune\b/) && hasFlag(command, "--volumes|-a|--all")) ||
			(says(command, /^compose\b.*\bdown\b/) && hasFlag(command, "-v|--volumes"))
		);
	return is(command, "docker-compose") && says(command, /\bdown\b/) && hasFlag(command, "-v|--volumes");
}
