/** A table by names that come from elsewhere, such as a command or a caller: one may be called `constructor`, and is in no table then. */
export const byName = <T>(table: Record<string, T>): Readonly<Record<string, T>> => Object.assign(Object.create(null) as Record<string, T>, table);
