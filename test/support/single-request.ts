import { request } from 'node:http';

/**
 * Sends a request on a connection of its own, as clients do that keep none.
 * @returns the status; 0 if there was no complete answer
 */
export function sendSingle(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: object,
): Promise<number> {
  return new Promise((resolve) => {
    const json = body === undefined ? '' : JSON.stringify(body);
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = request(url, { agent: false, method, headers: { ...headers, ...type } }, (answer) => {
      answer.resume();
      answer.on('error', () => resolve(0));
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', () => resolve(0));
    sent.end(json);
  });
}
