import { setTimeout as sleep } from 'node:timers/promises';
import { createByteReader } from '../../lib/byte-reader.js';
import type { OutboundResponse } from '../outbound.js';
import { OutboundError } from '../outbound-guard.js';

/** A request to the store. */
export interface StoreRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly totalTimeoutMs?: number;
}

/** Sends a signed request to the store. */
export type Call = (request: StoreRequest) => Promise<OutboundResponse>;

/** The store refused a request. The message contains its status and, if it is a plain word, its error code. */
class S3Error extends Error {
  override readonly name = 'S3Error';
}

/** The error for an answer that refuses an operation on an object. @param operation a verb, such as `read` */
export function refusalError(operation: string, { status, body }: Pick<OutboundResponse, 'status' | 'body'>): S3Error {
  const code = codeOf(body);
  return new S3Error(`the store refused to ${operation} an object: ${status}${code === undefined ? '' : ` ${code}`}`);
}

/** The code in an answer that is an error. */
export function codeOf(body: Buffer): string | undefined {
  return /<Code>([A-Za-z]{1,64})<\/Code>/.exec(body.toString('utf8', 0, 4096))?.[1];
}

/** Bytes of each part of a large object. Some stores demand that all but the last have the same size. */
const partBytes = 16 * 1024 * 1024;
/** The maximum number of parts in the API of S3. */
const maxParts = 10_000;
/** Milliseconds for a part, for slow connections. */
const partTimeoutMs = 300_000;
const maxAttempts = 3;
const pauseMs = 500;

/** Sends a request. After a temporary failure, it sends the request again. */
async function sendWithRetries(call: Call, request: StoreRequest): Promise<OutboundResponse> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = await call({ ...request, totalTimeoutMs: partTimeoutMs });
      if (answer.status < 500 || attempt === maxAttempts) return answer;
    } catch (error) {
      if (!(error instanceof OutboundError) || attempt === maxAttempts) throw error;
    }
    await sleep(attempt * pauseMs);
  }
}

/** Stores an object of any size. It sends a large one in parts, which the store joins at the end. @returns its bytes */
export async function upload(call: Call, key: string, content: AsyncIterable<Buffer>): Promise<number> {
  const source = createByteReader(content);
  try {
    const first = await source.read(partBytes);
    if (first.length === partBytes) return await uploadParts(call, key, first, () => source.read(partBytes));
    const answer = await sendWithRetries(call, { method: 'PUT', key, body: first });
    if (answer.status !== 200) throw refusalError('store', answer);
    return first.length;
  } finally {
    await source.close();
  }
}

async function uploadParts(call: Call, key: string, first: Buffer, next: () => Promise<Buffer>): Promise<number> {
  const response = await sendWithRetries(call, { method: 'POST', key, query: { uploads: '' } });
  const uploadId = /<UploadId>([^<&]{1,1024})<\/UploadId>/.exec(response.body.toString('utf8'))?.[1];
  if (response.status !== 200 || uploadId === undefined) throw refusalError('store', response);
  try {
    const tags: string[] = [];
    let bytes = 0;
    for (let body = first; body.length > 0; body = await next()) {
      if (tags.length === maxParts) throw new S3Error('an object in this store cannot be larger than 160 GB');
      const query = { partNumber: String(tags.length + 1), uploadId };
      const answer = await sendWithRetries(call, { method: 'PUT', key, query, body });
      if (answer.status !== 200) throw refusalError('store', answer);
      tags.push(answer.headers.etag ?? '');
      bytes += body.length;
    }
    const parts = tags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag.replaceAll('"', '&quot;')}</ETag></Part>`,
    );
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const completed = await sendWithRetries(call, { method: 'POST', key, query: { uploadId }, body });
    // The status was sent before the store put the parts together, so an error may follow it.
    if (completed.status !== 200 || codeOf(completed.body) !== undefined) throw refusalError('store', completed);
    return bytes;
  } catch (error) {
    await call({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined);
    throw error;
  }
}

/** Reads an object of any size in parts. Undefined if there is no such object. */
export async function download(call: Call, key: string): Promise<AsyncIterable<Buffer> | undefined> {
  const first = await readPart(call, key, 0, undefined);
  if (first === undefined) return undefined;
  return (async function* () {
    yield first.body;
    for (let offset = first.body.length; offset < first.total; ) {
      const part = await readPart(call, key, offset, first.tag);
      if (part === undefined || part.body.length === 0) throw new S3Error('the object was removed while it was read');
      yield part.body;
      offset += part.body.length;
    }
  })();
}

interface ReadPart {
  readonly body: Buffer;
  /** Bytes of the whole object. */
  readonly total: number;
  readonly tag: string | undefined;
}

/** @param tag the ETag of the first part, so that all parts are of the same version of the object */
async function readPart(call: Call, key: string, from: number, tag: string | undefined): Promise<ReadPart | undefined> {
  const headers = {
    range: `bytes=${from}-${from + partBytes - 1}`,
    ...(tag !== undefined && { 'if-match': tag }),
  };
  const answer = await sendWithRetries(call, { method: 'GET', key, headers });
  if (answer.status === 404 && codeOf(answer.body) !== 'NoSuchBucket') return undefined;
  const total = Number(/^bytes \d+-\d+\/(\d+)$/.exec(answer.headers['content-range'] ?? '')?.[1]);
  if (answer.status !== 206 || !Number.isSafeInteger(total)) throw refusalError('read', answer);
  return { body: answer.body, total, tag: answer.headers.etag };
}
