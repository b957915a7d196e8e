/** Looks up a name that comes from outside, such as a command or a caller: a name like `constructor` is found in no table. */
export const byName = <T>(table: Record<string, T>): Readonly<Record<string, T>> => Object.assign(Object.create(null) as Record<string, T>, table);
