/** The description of this server as a whole for a model; the tools describe themselves. */
export const INSTRUCTIONS = `Holdfast gives you a terminal that holds. \`terminal\` runs commands in one persistent bash shell of yours; \`process\` looks after what runs in the background.
Whatever you start goes on when a call or this connection ends. A result with status "running" is not an error: go on with process(action="wait" or "poll", session_id=…), and do not start the command again.
After a connection was lost, process(action="list") shows what is there.
News of background processes come with your next result, in \`notices\`. The log of each process is also a resource: holdfast://process/SESSION_ID/log.`;
