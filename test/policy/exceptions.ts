/** Commands of the attack corpora that are not asked about: what tells them from everyday work is not in the line. */
export const NOT_ASKED: Readonly<Record<string, readonly string[]>> = {
	"it names one container or session by its own name, as one does with one's own; whose it is stands nowhere in the line": [
		"docker rm -f postgres-of-the-team",
		"tmux kill-session -t main",
	],
	"a package by its name comes from the registry that is set, as `npx -y create-vite` does; who wrote it is known to the registry, and belongs into an allow-list there":
		["npx -y totally-not-malware@latest", "pipx run some-unknown-package", "go run github.com/someone/tool@latest"],
	"the usual way to end one's own server that still holds a port; whose process that is stands nowhere in the line": [
		"kill $(lsof -t -i:5432)",
		"fuser -k 5432/tcp",
	],
};
