import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { eventually } from '../eventually.js';
import { decodeJson, decodeProtobuf } from './decode.js';
import type { Decoded } from './messages.js';

/** A span as an observability system sees it. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly hasFailed: boolean;
  /** The attributes of its process. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A receiver of OTLP over HTTP. It refuses a request that does not follow the specification to the letter. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }[];
  /** Why requests were refused. */
  readonly errors: readonly string[];
  /** Waits for a span. */
  wait(what: string, fits: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>;
  close(): Promise<void>;
}

const kinds = ['internal', 'server', 'client', 'producer', 'consumer'] as const;

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const errors: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const sent = Buffer.concat(chunks);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    const { method, url: path = '', headers } = request;
    requests.push({ path, headers, body });
    const type = headers['content-type'] ?? '';
    try {
      if (method !== 'POST' || path !== '/v1/traces') throw new Error(`${method} ${path}`);
      spans.push(...spansOf(decode(type, body)));
      response.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? '{}' : '');
    } catch (error) {
      errors.push(String(error));
      response.writeHead(400).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    errors,
    wait: (what, fits) => eventually(what, async () => spans.find(fits)),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function decode(type: string, body: Buffer): Decoded {
  if (type === 'application/x-protobuf') return decodeProtobuf('ExportTraceServiceRequest', body);
  if (type === 'application/json') return decodeJson('ExportTraceServiceRequest', JSON.parse(body.toString()));
  throw new Error(`the content type is ${type}`);
}

const list = (message: Decoded, name: string) => (message[name] ?? []) as Decoded[];

function spansOf(request: Decoded): ReceivedSpan[] {
  return list(request, 'resourceSpans').flatMap((group) =>
    list(group, 'scopeSpans').flatMap((scope) =>
      list(scope, 'spans').map((span): ReceivedSpan => {
        const { name, traceId, spanId, parentSpanId, kind, startTimeUnixNano, endTimeUnixNano, status } = span;
        if (!/^[0-9a-f]{32}$/.test(String(traceId)) || !/^[0-9a-f]{16}$/.test(String(spanId))) throw new Error('ids');
        if (BigInt(String(endTimeUnixNano)) < BigInt(String(startTimeUnixNano))) throw new Error('times');
        const found = kinds[Number(kind) - 1];
        if (found === undefined || typeof name !== 'string' || name === '') throw new Error('kind or name');
        return {
          ...{ name, kind: found, traceId: String(traceId), spanId: String(spanId) },
          parentSpanId: parentSpanId === undefined || parentSpanId === '' ? undefined : String(parentSpanId),
          attributes: attributesOf(span),
          links: list(span, 'links').map((link) => ({ traceId: String(link.traceId), spanId: String(link.spanId) })),
          hasFailed: (status as Decoded | undefined)?.code === 2,
          resource: attributesOf((group.resource ?? {}) as Decoded),
        };
      }),
    ),
  );
}

const attributesOf = (message: Decoded) =>
  Object.fromEntries(
    list(message, 'attributes').map(({ key, value }) => [String(key), Object.values(value as Decoded)[0]]),
  );
