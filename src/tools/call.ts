/** What a door says of a call besides the model's arguments. */
export interface Call {
	/** Whose call it is. Default: the runtime's task. */
	readonly task?: string;
	/** Interrupts the call: a foreground command is killed with its tree, a wait just ends. */
	readonly signal?: AbortSignal;
	/** The door must answer within this many milliseconds; what is not finished then is `running`, with a note how to go on. */
	readonly within?: number;
	/** Told now and then while the call goes on, in words for people. */
	readonly progress?: (message: string) => void;
	/** Nobody will get the answer: then it takes no notices with it, and a command that has ended stays readable by its id. */
	readonly gone?: () => boolean;
}
