/** The four clients: how each is installed, set up for the scripted model with nothing else on the network, and started for one prompt. */
import fs from "node:fs";
import path from "node:path";

export const PACKAGES = [
	"opencode-ai@1.18.33",
	"@openai/codex@0.166.0",
	"@google/gemini-cli@0.61.0",
	"@anthropic-ai/claude-code@2.1.325",
	"gpt-tokenizer@4.0.0",
];

const json = (file, value) => write(file, JSON.stringify(value, null, "\t"));

function write(file, text) {
	fs.mkdirSync(path.dirname(file), { recursive: true });
	fs.writeFileSync(file, text);
}

/**
 * `configure` writes the client's own configuration into a scratch home, before `holdfast setup` puts our entry beside it; `args` is one
 * prompt without a person; `limit` makes the client give up on a call of ours after so many seconds (Codex gives no reason: 60 s is a
 * limit that the server knows); `added` is what the client's models pass to every tool; `cancels`: Ctrl-C takes the
 * call back; `patient` has the client wait for our tools.
 */
export const CLIENTS = [
	{
		id: "opencode",
		name: "opencode",
		program: "opencode",
		env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_SHARE: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" },
		configure(home, url) {
			json(path.join(home, ".config/opencode/opencode.json"), {
				autoupdate: false,
				share: "disabled",
				provider: {
					script: { npm: "@ai-sdk/openai-compatible", options: { baseURL: `${url}/v1`, apiKey: "none" }, models: { scripted: { tool_call: true } } },
				},
				model: "script/scripted",
				small_model: "script/scripted",
			});
		},
		args: (prompt) => ["run", "--auto", prompt],
		limit: {
			seconds: 15,
			set: (home, seconds) => edit(path.join(home, ".config/opencode/opencode.json"), ({ mcp }) => (mcp.holdfast.timeout = seconds * 1000)),
		},
	},
	{
		id: "codex",
		name: "Codex",
		program: "codex",
		env: { SCRIPT_KEY: "none" },
		configure(home, url) {
			write(
				path.join(home, ".codex/config.toml"),
				[
					'model = "scripted"',
					'model_provider = "script"',
					"check_for_update_on_startup = false",
					"[analytics]",
					"enabled = false",
					"[model_providers.script]",
					'name = "script"',
					`base_url = "${url}/v1"`,
					'wire_api = "responses"',
					'env_key = "SCRIPT_KEY"',
					"request_max_retries = 0",
					"",
				].join("\n"),
			);
		},
		args: (prompt) => ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
		limit: {
			seconds: 60,
			set(home, seconds) {
				const file = path.join(home, ".codex/config.toml");
				write(file, fs.readFileSync(file, "utf8").replace(/tool_timeout_sec = \d+/, `tool_timeout_sec = ${seconds}`));
			},
		},
		cancels: true,
		patient: { args: ["-c", "mcp_servers.holdfast.required=true"] },
	},
	{
		id: "gemini",
		name: "Gemini CLI",
		program: "gemini",
		urlVariable: "GOOGLE_GEMINI_BASE_URL",
		env: { GEMINI_API_KEY: "none", GEMINI_CLI_NO_RELAUNCH: "true", GEMINI_TELEMETRY_ENABLED: "false", GEMINI_CLI_TRUST_WORKSPACE: "true" },
		configure(home) {
			json(path.join(home, ".gemini/settings.json"), {
				security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
				privacy: { usageStatisticsEnabled: false },
				telemetry: { enabled: false },
				general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
			});
		},
		args: (prompt) => ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust", "-p", prompt],
		limit: {
			seconds: 15,
			set: (home, seconds) => edit(path.join(home, ".gemini/settings.json"), ({ mcpServers }) => (mcpServers.holdfast.timeout = seconds * 1000)),
		},
		added: { wait_for_previous: true },
	},
	{
		id: "claude-code",
		name: "Claude Code",
		program: "claude",
		urlVariable: "ANTHROPIC_BASE_URL",
		env: {
			ANTHROPIC_API_KEY: "none",
			CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
			DISABLE_TELEMETRY: "1",
			DISABLE_ERROR_REPORTING: "1",
			DISABLE_AUTOUPDATER: "1",
		},
		configure(home) {
			json(path.join(home, ".claude.json"), { hasCompletedOnboarding: true });
		},
		args: (prompt) => ["-p", "--allowedTools", "mcp__holdfast", "--", prompt],
		limit: { seconds: 15, set: (home, seconds) => edit(path.join(home, ".claude.json"), ({ mcpServers }) => (mcpServers.holdfast.timeout = seconds * 1000)) },
		cancels: true,
		patient: { env: { MCP_CONNECTION_NONBLOCKING: "0" } },
	},
];

function edit(file, change) {
	const value = JSON.parse(fs.readFileSync(file, "utf8"));
	change(value);
	json(file, value);
}
