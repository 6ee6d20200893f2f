import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptsCoding } from '../../lib/http-headers.js';
import type { App } from '../requests/route.js';

/** Shorter answers fit into one or two packets anyway. */
const minLength = 2048;
/** Higher levels of Brotli take much more time and save little data. */
const brotliQuality = 4;

const compressors = {
  br: (text: string) =>
    promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (text: string) => promisify(gzip)(text),
} as const;
const codings = ['br', 'gzip'] as const;

/**
 * Compresses the large answers of the admin API to GET, on other threads. No other answers: the length of a compressed
 * answer that contains a secret and a text of an attacker reveals the secret (BREACH, decision 107).
 */
export function compressionPlugin(app: App): void {
  app.addHook('onRoute', (route) => {
    if (route.method !== 'GET' || !isCompressed(route.url)) return;
    route.onSend = [route.onSend ?? [], compress].flat();
  });
}

/** Notifications and messages are not compressed: they may contain both secrets of the publishing service and texts of other people. */
const isCompressed = (url: string) =>
  url.startsWith('/admin/v1/') && !/\/(?:notifications|messages|outbox)\b/.test(url);

async function compress(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  const vary = reply.getHeader('vary');
  reply.header('vary', vary === undefined ? 'Accept-Encoding' : `${String(vary)}, Accept-Encoding`);
  if (typeof payload !== 'string' || payload.length < minLength || reply.statusCode !== 200) return payload;
  const coding = codings.find((name) => acceptsCoding(request.headers['accept-encoding'], name));
  if (coding === undefined) return payload;
  const compressed = await compressors[coding](payload);
  reply.header('content-encoding', coding);
  reply.removeHeader('content-length');
  return compressed;
}
