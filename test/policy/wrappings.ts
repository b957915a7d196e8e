/** Commands that are dangerous, and ways to wrap a command. A wrapping must never lower the decision about what it wraps. */

/** No quotes in them: wrappings add their own. */
export const CORES = [
	"rm -rf /",
	"rm -rf ~",
	"rm -rf ../other",
	"reboot",
	"git push --force origin main",
	"cat ~/.ssh/id_rsa",
	"tee -a ~/.bashrc",
	"dd if=/dev/zero of=/dev/sda",
	"pkill -f holdfast",
	"kill -9 -1",
	"npm publish",
	"terraform destroy",
	"truncate -s 0 ~/notes.txt",
] as const;

type Wrapping = (core: string) => string;

const before = (prefixes: string): Wrapping[] =>
	prefixes
		.trim()
		.split("\n")
		.map((prefix) => (core) => `${prefix.trim()} ${core}`);

const quoted = (forms: string): Wrapping[] =>
	forms
		.trim()
		.split("\n")
		.map(
			(form) => (core) =>
				form
					.trim()
					.replaceAll("⏎", "\n")
					.replace(/@(?!P)/g, () => core),
		);

/** Programs that run the command behind them. */
export const PROGRAMS: readonly Wrapping[] = before(`
		sudo
		sudo -u root --
		doas
		env
		env A=1
		env -i
		nohup
		nice -n 5
		ionice -c 3
		timeout 10
		timeout -k 1 -s KILL 10
		time
		setsid -w
		stdbuf -oL
		chrt 1
		taskset 1
		unshare -r
		setpriv --reuid 1000 --clear-groups
		systemd-run --user --scope
		command
		builtin command
		exec
		busybox
		xargs -r
		flock /tmp/l
		strace -f -o /tmp/t
		chronic
		unbuffer
		dbus-run-session --
		xvfb-run -a
		proxychains -q
		faketime yesterday
		uv run
		poetry run
		pipenv run
		pdm run
		hatch run
		bundle exec
		conda run -n env
		direnv exec .
		mise exec node@20 --
		dotenvx run --
		aws-vault exec prod --
		git bisect run
	`);

/** The command is found in these as if it stood alone. */
export const TRANSPARENT: readonly Wrapping[] = [
	...PROGRAMS,
	...before(`
		!
		A=1
		2>/dev/null
		true &&
		false ||
		ls;
		ls |
	`),
	...quoted(`
		(@)
		{ @; }
		if true; then @; fi
		if @; then :; fi
		while @; do :; done
		until @; do :; done
		for i in 1; do @; done
		for ((;;)); do @; done
		case x in x) @;; esac
		f() { @; }; f
		function f { @; }; f
		f() { command @; }; f
		alias x='@'⏎x
		coproc { @; }
		coproc @
		trap '@' EXIT
		trap -- '@' EXIT
		eval '@'
		eval -- '@'
		sh -c '@'
		bash -lc '@'
		bash -c 'eval "$1"' x '@'
		sh <<< '@'
		sh <<E⏎@⏎E
		cat <<'E' | sh⏎@⏎E
		echo '@' | sh
		printf '%s' '@' | bash -s
		echo '@' > >(sh)
		echo '@' | tee >(sh) > /dev/null
		echo $(@)
		echo "\`@\`"
		x=$(@)
		: "\${x:-$(@)}"
		cat <(@)
		[[ -n $(@) ]]
		[[ 'a[$(@)]' -eq 0 ]]
		((x = $(@)))
		let 'a[$(@)]=1'
		declare -i x='a[$(@)]'
		unset 'a[$(@)]'
		x='$(@)'; echo "\${x@P}"
		PS4='$(@)' bash -xc ls
		PROMPT_COMMAND='@'
		echo '@' > x.sh; sh x.sh
		echo '@' > x.sh; bash < x.sh
		echo '@' > x.sh; cat x.sh | bash
		echo '@' > x.sh; . ./x.sh
		echo '@' > a; cp a x.sh; bash x.sh
		echo '@' | tee x.sh; sh x.sh
		echo '@' | dd of=x.sh; sh x.sh
		find . -exec sh -c '@' \\;
		find . -maxdepth 0 -exec @ \\;
		echo a | xargs -I{} sh -c '@'
		parallel '@' ::: 1
		watch '@'
		script -qc '@' /dev/null
		script --command='@' /dev/null
		su root -c '@'
		su --command='@' root
		npx -c '@'
		yarn exec '@'
		hyperfine '@'
		nodemon -x '@'
		concurrently 'ls' '@'
		tmux new -d '@'
		tmux send-keys -t 0 '@' Enter
		git -c alias.x='!@' x
		git -c core.fsmonitor='@' status
		GIT_SSH_COMMAND='@' git fetch
		GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0='@' git status
		git submodule foreach --recursive '@'
		git rebase -x '@' main
		tar cf x.tar y --checkpoint=1 --checkpoint-action=exec='@'
		tar xf x.tar --to-command '@'
		awk 'BEGIN { system("@") }'
		sed '1e @' f
		vim -c '!@' -c q
		at now <<< '@'
	`),
	(core) => {
		const [program, ...args] = core.split(" ");
		return `${(program as string).slice(0, 1)}""${(program as string).slice(1)} ${args.join(" ")}`;
	},
	(core) => core.replace(/^(.)/, "$1\\\n"),
	(core) => `a=(${core}); "\${a[@]}"`,
	(core) => `set -e; cd . && ${core}`,
	(core) => `echo ${Buffer.from(core).toString("base64")} | base64 -d | sh`,
];

/** From these at least a question is left: a language, or another machine, is between. */
export const OPAQUE: readonly Wrapping[] = quoted(`
	python3 -c 'import os; os.system("@")'
	python3 -c 'import subprocess; subprocess.run("@", shell=True)'
	perl -E 'system "@"'
	ruby -e 'system "@"'
	node -e 'require("child_" + "process").execSync("@")'
	php -r 'system("@");'
	awk '{ system($0) }' <<< '@'
	make -f - <<E⏎all: ; @⏎E
	rev <<< '@' | sh
	openssl enc -d -in x | bash
	read x <<< '@'; $x
	eval "$(gh gist view x)"
	echo x | sed 'w x.sh'; bash x.sh
`);
