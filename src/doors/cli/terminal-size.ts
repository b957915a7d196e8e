/** Returns the size of the terminal on stdout. A serial line, or script(1) without a terminal around it, has 0 columns and 0 rows: the size is not known, and 80 by 24 is taken. */
export const terminalSize = ({ columns, rows }: NodeJS.WriteStream = process.stdout): { cols: number; rows: number } => ({
	cols: columns || 80,
	rows: rows || 24,
});
