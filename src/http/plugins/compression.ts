import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
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
  br: (content: string | Buffer) =>
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (content: string | Buffer) => promisify(gzip)(content),
} as const;
const codings = ['br', 'gzip'] as const;

/**
 * Compresses the large answers of the admin API to GET, on other threads. No other answers: the length of a compressed
 * answer that contains a secret and a text of an attacker reveals the secret (BREACH, decision 33).
 */
export function compressionPlugin(app: App): void {
  app.addHook('onRoute', (route) => {
    if (route.method !== 'GET' || !isCompressed(route.url)) return;
    route.onSend = [route.onSend ?? [], compress].flat();
  });
}

/**
 * Notifications, publications and messages are not compressed: they may contain both secrets of the publishing service and texts of
 * other people.
 */
const isCompressed = (url: string) =>
  url.startsWith('/admin/v1/') && !/\/(?:notifications|publications|messages|outbox)\b/.test(url);

async function compress(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  varyByEncoding(reply);
  if (typeof payload !== 'string' || payload.length < minLength || reply.statusCode !== 200) return payload;
  const coding = codingFor(request);
  if (coding === undefined) return payload;
  return asCompressed(reply, coding, await compressors[coding](payload));
}

/**
 * Compresses all answers of a scope whose routes are public files that do not change while the process runs. Each file is
 * compressed once and kept in memory, so that requests for it cost no CPU time.
 */
export function compressFiles(scope: App): void {
  const files = new Map<string, Promise<Buffer>>();
  scope.addHook('onSend', async (request, reply, payload) => {
    varyByEncoding(reply);
    const coding = codingFor(request);
    if (coding === undefined || request.method !== 'GET' || reply.statusCode !== 200) return payload;
    const key = `${coding} ${filePathOf(request.url)}`;
    let file = files.get(key);
    if (file === undefined) {
      file = readAll(payload).then(compressors[coding]);
      file.catch(() => files.delete(key));
      files.set(key, file);
    } else if (isStream(payload)) payload.destroy();
    reply.removeHeader('accept-ranges');
    return asCompressed(reply, coding, await file);
  });
}

/**
 * The path of the file behind a URL. A client can write it in many ways, such as with `%61` for a letter or with `/./`, and
 * the answers must share one compressed file. Only paths of existing files come here, so their number is bounded.
 */
function filePathOf(url: string): string {
  const [path = ''] = url.split('?', 1);
  return posix.normalize(decodeURIComponent(path));
}

const isStream = (payload: unknown): payload is Readable => typeof Object(payload).pipe === 'function';

async function readAll(payload: unknown): Promise<string | Buffer> {
  return isStream(payload) ? buffer(payload) : (payload as string | Buffer);
}

function varyByEncoding(reply: FastifyReply): void {
  const vary = reply.getHeader('vary');
  reply.header('vary', vary === undefined ? 'Accept-Encoding' : `${String(vary)}, Accept-Encoding`);
}

const codingFor = ({ headers }: FastifyRequest) =>
  codings.find((name) => acceptsCoding(headers['accept-encoding'], name));

function asCompressed(reply: FastifyReply, coding: (typeof codings)[number], content: Buffer): Buffer {
  reply.header('content-encoding', coding);
  reply.removeHeader('content-length');
  return content;
}
