/** A run on several machines: workers play, a collector has the run, and NATS JetStream moves jobs and results between them. agent/docs/fleet.md */
export { collect } from "./collector.js";
export { workerName } from "./job.js";
export { JobQueue } from "./nats.js";
export { work } from "./worker.js";
