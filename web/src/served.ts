// Where the built pages lie, for whoever serves them.

/** The folder of the static files, with a slash at the end. */
export const site = new URL("../site/", import.meta.url);
