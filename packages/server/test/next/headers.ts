// `next/headers.js` as Next.js has it: one object of headers and one store of cookies for each request. What an action sets is in
// the store at once.
import { AsyncLocalStorage } from 'node:async_hooks';

export interface CurrentRequest {
  readonly headers: Headers;
  readonly cookies: { set(name: string, value: string, options: object): void; toString(): string };
}
const requests = new AsyncLocalStorage<CurrentRequest>();

/** Runs what a page does for one request. */
export const inRequest = <T>(request: CurrentRequest, run: () => Promise<T>): Promise<T> => requests.run(request, run);

function current(): CurrentRequest {
  const request = requests.getStore();
  if (request === undefined) throw new Error('There is no request.');
  return request;
}
export const headers = async () => current().headers;
export const cookies = async () => current().cookies;
