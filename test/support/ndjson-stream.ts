import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';

/** A line of the answer. */
export interface ResultLine {
  readonly line?: number;
  readonly status: number;
  readonly result?: string;
  readonly id?: string;
  readonly ids?: readonly string[];
  readonly errors?: readonly { readonly field?: string; readonly code: string }[];
  readonly code?: string;
  readonly committed_lines?: number;
}

/** A request whose body and answer flow at the same time. */
export interface LineStream {
  readonly response: Promise<IncomingMessage>;
  /** Resolves when the text was passed to the system. */
  send(text: string): Promise<void>;
  end(): void;
  /** The next line of the answer; undefined at its end. */
  next(): Promise<ResultLine | undefined>;
  /** The remaining lines. */
  rest(): Promise<ResultLine[]>;
  destroy(): void;
}

/** Opens an NDJSON request. The default path publishes. */
export function openLineStream(
  { url, adminKey }: { readonly url: string; readonly adminKey: string },
  { path = '/admin/v1/notifications', query = '' }: { readonly path?: string; readonly query?: string } = {},
): LineStream {
  const request = httpRequest(`${url}${path}${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/x-ndjson' },
  });
  const response = once(request, 'response').then(([answer]) => answer as IncomingMessage);
  const lines = response.then((answer) => createInterface({ input: answer })[Symbol.asyncIterator]());
  // The caller waits for one of them only.
  for (const promise of [response, lines]) promise.catch(() => undefined);
  request.on('error', () => undefined);
  request.flushHeaders();
  const next = async () => {
    const { value, done } = await (await lines).next();
    return done === true ? undefined : (JSON.parse(value) as ResultLine);
  };
  return {
    response,
    next,
    async send(text) {
      if (!request.write(text)) await once(request, 'drain');
    },
    end: () => void request.end(),
    async rest() {
      const found: ResultLine[] = [];
      for (let line = await next(); line !== undefined; line = await next()) found.push(line);
      return found;
    },
    destroy: () => void request.destroy(),
  };
}
