import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.js';

/** A delivery that a receiver got. */
export interface ReceivedEvent {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly endpoint_id: string;
  readonly data: Readonly<Record<string, unknown>> & { readonly user_id: string; readonly sequence: number };
}

/** What a receiver answers: a status, or a status with headers and a body. */
export type ReceiverAnswer =
  | number
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      /** Answer after this. */
      readonly after?: Promise<unknown>;
    };

export interface WebhookReceiver {
  readonly url: string;
  /** All attempts, in the order of their arrival. */
  readonly received: readonly ReceivedEvent[];
  /** Decides about each delivery. The default answers 204. */
  answer: (event: ReceivedEvent) => ReceiverAnswer;
  /** Waits for an attempt at a path that fits. */
  wait(path: string, what: string, fits?: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent>;
  close(): Promise<void>;
}

/** An HTTP server on loopback that records deliveries. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedEvent[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const event: ReceivedEvent = { ...JSON.parse(text), path: request.url ?? '', headers: request.headers, text };
    received.push(event);
    const given = receiver.answer(event);
    const answer = typeof given === 'number' ? { status: given } : given;
    await answer.after;
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: () => 204,
    wait: (path, what, fits = () => true) =>
      eventually(what, async () => received.find((event) => event.path === path && fits(event))),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
