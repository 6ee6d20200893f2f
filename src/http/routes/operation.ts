import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { Type } from 'typebox';
import { acceptsCoding, isUnchanged } from '../../lib/http-headers.js';
import type { App } from '../requests/route.js';

/** The check behind the readiness probe. */
export interface Readiness {
  /** Resolves when the database answers and this instance is not shutting down; rejects otherwise. */
  check(): Promise<void>;
}

const Ok = Type.Object({ status: Type.Literal('ok') }, { title: 'ProbeResult' });

/** Routes for the probes and, with `apiDocs`, the OpenAPI document. */
export function operationRoutes(app: App, { readiness }: { readiness: Readiness }, apiDocs: boolean): void {
  app.route({
    method: 'GET',
    url: '/livez',
    schema: {
      operationId: 'live',
      summary: 'Check that the process runs',
      response: { 200: { ...Ok, description: 'The process runs.' } },
    },
    config: { access: 'public', isProbe: true },
    handler: async () => ({ status: 'ok' as const }),
  });

  app.route({
    method: 'GET',
    url: '/readyz',
    schema: {
      operationId: 'ready',
      summary: 'Check that the instance can serve requests',
      description: 'The database responds and the instance is not shutting down.',
      response: { 200: { ...Ok, description: 'The instance can serve requests.' } },
    },
    config: { access: 'public', isProbe: true, problems: ['shutting_down'] },
    async handler() {
      await readiness.check();
      return { status: 'ok' as const };
    },
  });

  if (!apiDocs) return;
  // Created at the first request, when all routes are registered.
  let document: StoredDocument | undefined;
  app.route({
    method: 'GET',
    url: '/openapi.json',
    schema: { hide: true },
    config: { access: 'public' },
    handler: async (request, reply) => {
      document ??= storeDocument(app.swagger());
      reply.headers({ ETag: document.etag, 'Cache-Control': 'public, no-cache', Vary: 'Accept-Encoding' });
      if (isUnchanged(request.headers['if-none-match'], document.etag)) return reply.code(304).send();
      reply.type('application/json; charset=utf-8');
      if (!acceptsCoding(request.headers['accept-encoding'], 'gzip')) return reply.send(document.json);
      return reply.header('Content-Encoding', 'gzip').send(document.gzipped);
    },
  });
}

interface StoredDocument {
  readonly json: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
}

function storeDocument(document: object): StoredDocument {
  const json = Buffer.from(JSON.stringify(document));
  const digest = createHash('sha256').update(json).digest('base64url').slice(0, 22);
  // A weak ETag, because both encodings of the document have the same one (RFC 9110, 8.8.1).
  return { json, gzipped: gzipSync(json), etag: `W/"${digest}"` };
}
