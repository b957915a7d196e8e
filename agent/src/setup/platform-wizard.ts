/** `setup platform`: asks for a chat platform, tries it, and waits for the first message. */
import type { AgentConfig, AgentHome, KeyRing, LoadedConfig } from "../base/index.js";
import { PLATFORMS, platformKind } from "../gateway/index.js";
import {
	firstWriter,
	type PlatformDraft,
	platformChanges,
	requiredSettings,
	savePlatform,
	settingAt,
	tryPlatform,
	typedValue,
	withSetting,
} from "./platform.js";
import { Back, bad, confirm, during, good, hidden, info, intro, note, outro, select, text, watchKeys } from "./ui.js";

const WAIT_MS = 180_000;

export interface PlatformWizardOptions {
	readonly home: AgentHome;
	readonly keys: KeyRing;
	readonly settings: LoadedConfig;
}

/** Resolves with false if the person has left; then nothing was written. */
export async function runPlatformWizard({ home, keys, settings: { config, file } }: PlatformWizardOptions): Promise<boolean> {
	watchKeys();
	intro("holdfast-agent setup platform");
	info("Esc or Ctrl-C leaves; nothing is saved before the end.");
	try {
		const draft = await asked(config);
		note(
			platformChanges(draft)
				.map(({ key, value }) => `${key.join(".")}: ${JSON.stringify(value)}`)
				.join("\n"),
			file,
		);
		if (!(await confirm("Save this?"))) throw new Back("out");
		await savePlatform(home, keys, draft);
	} catch (error) {
		if (!(error instanceof Back)) throw error;
		outro("Nothing was saved.");
		return false;
	}
	info('Commands that need your approval wait for five minutes; for a phone, set { "approvals": { "expires": 3600 } } in config.json of Holdfast.');
	outro("Saved. `holdfast-agent gateway` runs it, `holdfast-agent gateway install` makes it a service.");
	return true;
}

/** Asks for a platform's settings. Those that are set already stay, but for its tokens. */
async function asked(config: AgentConfig): Promise<PlatformDraft> {
	const kind = await select(
		"Which platform?",
		Object.entries(PLATFORMS).map(([value, { label }]) => ({ value, label })),
	);
	note(platformKind(kind).steps.join("\n"), "Before");
	for (;;) {
		const { kind: _, enabled: __, keys: ___, ...set }: Record<string, unknown> = config.gateway.platforms[kind] ?? {};
		let settings = set;
		for (const name of requiredSettings(kind).filter((one) => settingAt(set, one) === undefined)) {
			const typed = await text(name, { validate: (value) => (value.trim() === "" ? "it is needed" : undefined) });
			settings = withSetting(settings, name, typedValue(typed));
		}
		const secrets: Record<string, string> = {};
		for (const { name, label, optional } of platformKind(kind).secrets) {
			if (optional && !(await confirm(`Is there a ${label.charAt(0).toLowerCase()}${label.slice(1)}?`, false))) continue;
			secrets[name] = await hidden(`${label} (nothing of it is shown)`);
		}
		const draft: PlatformDraft = { name: kind, kind, settings, secrets };
		try {
			const { platform, words, address } = await during("Trying the account", () => tryPlatform(draft));
			good(words);
			const writer = await during(`Write to ${address} now, with the account that is to be the owner`, () =>
				firstWriter(platform, AbortSignal.timeout(WAIT_MS)),
			);
			if (!writer) info("Nobody wrote. Whoever writes later is told a code; `holdfast-agent pairing approve CODE --role admin` makes them the owner.");
			else if (await confirm(`${writer.name} (${writer.id}) has written. Is that you, and may you do everything?`)) draft.owner = writer.id;
			return draft;
		} catch (error) {
			if (error instanceof Back) throw error;
			bad(error instanceof Error ? error.message : String(error));
			if (!(await confirm("Enter it again?"))) throw new Back("out");
		}
	}
}
