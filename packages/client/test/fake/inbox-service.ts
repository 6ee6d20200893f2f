// The routes of an inbox in memory. Its answers take no time, so tests with stopped clocks can use it.
import { memoryStorage, type PosternStorage } from '../../src/index.js';
import type { Changes, Marker, NewSession } from '../../src/wire.js';

export type Answer = Response | Promise<Response> | undefined;

export interface InboxService {
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** Each request with the time when it was sent, such as `GET /v1/notifications/page`. */
  readonly sent: { readonly request: string; readonly at: number }[];
  /** Answers in place of the service, unless it returns undefined. */
  answer: ((request: string, init: RequestInit) => Answer) | undefined;
  /** Adds a notification, and sends it to the streams that are open. */
  publish(description: string): void;
  /** The streams of the service that are open. */
  readonly streams: Set<ReadableStreamDefaultController<Uint8Array>>;
}

const encoder = new TextEncoder();
const time = '2026-01-01T00:00:00.000000Z';

/** @param now the time that `sent` records */
export function createInboxService(now: () => number): InboxService {
  const rows: { id: string; sequence: number; description: string; created_at: string }[] = [];
  const changeOf = (row: (typeof rows)[number]) => ({
    ...{ id: row.id, sequence: row.sequence, change_sequence: row.sequence, notification: row },
  });
  const marker = (): Partial<Marker> => ({
    ...{ last_read_sequence: 0, unread_count: rows.length, unread_count_capped: false, updated_at: null },
  });
  const changesAfter = (after: number) => ({
    ...{ after: `${rows.length}`, has_more: false, reset: false, retained_from: {} },
    changes: rows.filter(({ sequence }) => sequence > after).map(changeOf),
  });
  function stream(init: RequestInit): Response {
    const from = Number(new Headers(init.headers).get('last-event-id') ?? rows.length);
    let own: ReadableStreamDefaultController<Uint8Array> | undefined;
    // As Postern does.
    const heartbeat = setInterval(() => {
      if (own && service.streams.has(own)) own.enqueue(encoder.encode(':\n\n'));
      else clearInterval(heartbeat);
    }, 15_000);
    const close = () => {
      clearInterval(heartbeat);
      if (own) service.streams.delete(own);
    };
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        own = controller;
        service.streams.add(controller);
        controller.enqueue(encoder.encode(`:\nretry: 1000\nid: ${from}\n\n`));
        for (const row of rows.slice(from)) controller.enqueue(eventOf(row));
      },
      cancel: close,
    });
    init.signal?.addEventListener('abort', close);
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }
  const eventOf = (row: (typeof rows)[number]) =>
    encoder.encode(`event: message\nid: ${row.sequence}\ndata: ${JSON.stringify(row)}\n\n`);

  const service: InboxService = {
    sent: [],
    answer: undefined,
    streams: new Set(),
    publish(description) {
      const sequence = rows.length + 1;
      const row = { id: `n${sequence}`, sequence, description, created_at: time };
      rows.push(row);
      for (const controller of service.streams) controller.enqueue(eventOf(row));
    },
    async fetch(input, init = {}) {
      const { pathname, searchParams } = new URL(input instanceof Request ? input.url : `${input}`);
      const request = `${init.method ?? 'GET'} ${pathname}`;
      service.sent.push({ request, at: now() });
      const other = await service.answer?.(request, init);
      if (other !== undefined) return other;
      switch (request) {
        case 'POST /v1/sessions':
          return Response.json(sessionOf('ada'), { status: 201 });
        case 'GET /v1/notifications/page':
          return Response.json({ data: rows.toReversed(), page: { next_cursor: null } });
        case 'GET /v1/notifications/marker':
          return Response.json(marker());
        case 'GET /v1/notifications/changes':
          return Response.json(changesAfter(Number(searchParams.get('after') ?? 0)) satisfies Partial<ChangesOfTest>);
        case 'GET /v1/notifications/stream':
          return stream(init);
        default:
          throw new Error(`The test does not expect ${request}.`);
      }
    },
  };
  return service;
}
type ChangesOfTest = Omit<Changes, 'changes'> & { readonly changes: readonly object[] };

/** A session of an hour. */
export function sessionOf(user: string): Partial<NewSession> {
  const created = Date.now();
  return {
    ...{ id: 's', token: `session of ${user}`, user_id: user, device_id: 'd' },
    ...{ created_at: new Date(created).toISOString(), expires_at: new Date(created + 3_600_000).toISOString() },
  };
}

/** A storage with the login of this user. */
export function storageOf(user: string): PosternStorage {
  const storage = memoryStorage();
  storage.set('postern.login', JSON.stringify({ token: `token of ${user}`, user_id: user, device_id: 'd' }));
  // A storage that keeps no keys, so that requests need no proofs.
  const { get, set, delete: remove } = storage;
  return { get, set, delete: remove };
}
