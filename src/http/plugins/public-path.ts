import type { RequestListener } from 'node:http';
import type { App } from '../requests/route.js';

/**
 * Removes the path of PUBLIC_URL from the URL of each request. So Postern answers behind a proxy that keeps this path and
 * behind one that removes it.
 * @param path such as `/auth`; empty: nothing is removed
 */
export function withoutPublicPath(path: string, listener: RequestListener): RequestListener {
  if (path === '') return listener;
  return (request, response) => {
    const { url = '' } = request;
    if (url === path || url.startsWith(`${path}?`)) request.url = `/${url.slice(path.length)}`;
    else if (url.startsWith(`${path}/`)) request.url = url.slice(path.length);
    listener(request, response);
  };
}

/** Adds the path of PUBLIC_URL to the links of responses: browsers resolve them against the URL that they have requested. */
export function publicPathPlugin(app: App, path: string): void {
  app.addHook('onSend', async (_request, reply) => {
    const link = reply.getHeader('link');
    if (typeof link === 'string') reply.header('link', link.replaceAll('</', `<${path}/`));
  });
}
