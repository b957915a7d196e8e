/** How users of a machine are named. */

/** A name or an id, and a group behind a colon. */
export const isUser = (user: unknown): user is string => typeof user === "string" && user.length <= 200 && /^[\w.-]+(:[\w.-]+)?$/.test(user);

export const USER_FORM = 'takes "host", a name or an id, and a group behind a colon: "1000:1000"';
