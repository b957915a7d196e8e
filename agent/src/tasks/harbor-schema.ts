/** The settings of a task in Harbor's format, `task.toml`: every key of versions 1.0 to 1.3, with its default. */
import * as z from "zod";

const seconds = z.number().positive().max(1_000_000);
const variables = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of a variable"), z.string());
const network = {
	network_mode: z.enum(["public", "no-network", "allowlist"]).optional(),
	allowed_hosts: z.array(z.string()).optional(),
};
const user = z.union([z.string().min(1), z.number().int().min(0)]).optional();
const absolute = z
	.string()
	.refine((path) => path.startsWith("/") && !path.split("/").includes("..") && !path.includes("\0"), "must be an absolute path without ..");
const relative = z
	.string()
	.refine((path) => path !== "" && !path.startsWith("/") && !path.split("/").includes("..") && !path.includes("\0"), "must be a relative path without ..");

export const artifactSchema = z.union([
	absolute.transform((source) => ({ source, exclude: [] as string[], destination: undefined as string | undefined, service: undefined as string | undefined })),
	z.object({
		source: absolute,
		destination: relative.optional(),
		exclude: z.array(z.string()).default([]),
		service: z.string().optional(),
	}),
]);

const healthcheck = z.object({
	command: z.string().min(1),
	interval_sec: seconds.default(5),
	timeout_sec: seconds.default(30),
	start_period_sec: z.number().min(0).default(0),
	start_interval_sec: seconds.default(5),
	retries: z.number().int().min(1).default(3),
});

const environment = z.object({
	build_timeout_sec: seconds.default(600),
	docker_image: z.string().min(1).optional(),
	os: z.enum(["linux", "windows"]).default("linux"),
	cpus: z.number().int().min(1).optional(),
	memory_mb: z.number().int().min(1).optional(),
	storage_mb: z.number().int().min(1).optional(),
	gpus: z.number().int().min(0).optional(),
	gpu_types: z.array(z.string()).optional(),
	tpu: z.object({ type: z.string(), topology: z.string() }).optional(),
	env: variables.default({}),
	workdir: absolute.optional(),
	...network,
	skills_dir: z.string().optional(),
	mcp_servers: z.array(z.looseObject({ name: z.string() })).optional(),
	healthcheck: healthcheck.optional(),
	// version 1.0
	memory: z.string().optional(),
	storage: z.string().optional(),
	allow_internet: z.boolean().optional(),
});

const agent = z.object({ timeout_sec: seconds.optional(), user, ...network });
const verifier = z.object({
	timeout_sec: seconds.default(600),
	env: variables.default({}),
	user,
	environment_mode: z.enum(["shared", "separate"]).optional(),
	environment: environment.optional(),
	...network,
	collect: z.array(z.object({ command: z.string().min(1), service: z.string().default("main"), timeout_sec: seconds.default(60), user })).default([]),
});

const step = z.object({
	name: z.string().regex(/^[A-Za-z0-9][\w.-]*$/, "must be the name of a folder"),
	agent: agent.prefault({}),
	verifier: verifier.prefault({}),
	min_reward: z.union([z.number(), z.record(z.string(), z.number())]).optional(),
	healthcheck: healthcheck.optional(),
	artifacts: z.array(artifactSchema).default([]),
});

export const harborSchema = z.object({
	schema_version: z.enum(["1.0", "1.1", "1.2", "1.3"]).optional(),
	version: z.enum(["1.0"]).optional(),
	source: z.string().optional(),
	artifacts: z.array(artifactSchema).default([]),
	multi_step_reward_strategy: z.enum(["mean", "final"]).default("mean"),
	task: z
		.object({
			name: z.string().min(1).optional(),
			description: z.string().optional(),
			authors: z.array(z.looseObject({ name: z.string().optional(), email: z.string().optional() })).optional(),
			keywords: z.array(z.string()).optional(),
		})
		.optional(),
	metadata: z.record(z.string(), z.unknown()).default({}),
	agent: agent.prefault({}),
	verifier: verifier.prefault({}),
	solution: z.object({ env: variables.default({}) }).prefault({}),
	environment: environment.prefault({}),
	steps: z.array(step).default([]),
});

export type HarborSettings = z.infer<typeof harborSchema>;
export type HarborEnvironment = z.infer<typeof environment>;
