/** The path below which the service answers, such as `/auth` behind a proxy. Empty without one. The code of the page is in it. */
export const rootPath = new URL(import.meta.url).pathname.replace(/\/console\/assets\/[^/]*$/, '');
