import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export const accessKeyId = 'AKIAEXAMPLE';
export const secretAccessKey = 's3/secret/access/key';
/** The only bucket of the store. */
const bucketName = 'bucket-of-tests';

/** A store in memory with the part of the API of Amazon S3 that Postern uses. It checks every signature. */
export interface StoreFake {
  readonly url: string;
  /** The objects by bucket/key. */
  readonly objects: Map<string, Buffer>;
  /** The parts of uploads that were neither completed nor given up. */
  readonly uploads: ReadonlyMap<string, readonly Buffer[]>;
  /** Requests as "METHOD /path". */
  readonly received: string[];
  /** From now on, requests that match the pattern get a 503 error. With undefined, all requests work again. */
  fail(matches: RegExp | undefined): void;
  close(): Promise<void>;
}

export async function startStore(): Promise<StoreFake> {
  const objects = new Map<string, Buffer>();
  const received: string[] = [];
  const uploads = new Map<string, Buffer[]>();
  /** By object: a large one is read in many requests. */
  const tags = new WeakMap<Buffer, string>();
  const tagOf = (data: Buffer) => {
    const tag = tags.get(data) ?? `"${createHash('md5').update(data).digest('hex')}"`;
    tags.set(data, tag);
    return tag;
  };
  let failing: RegExp | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const url = new URL(request.url ?? '', 'http://store');
    const line = `${request.method} ${url.pathname}`;
    received.push(line);
    const refuse = (status: number, code: string) =>
      response.writeHead(status).end(`<Error><Code>${code}</Code><Message>secret text</Message></Error>`);
    if (!isSigned(request, url, body)) return refuse(403, 'SignatureDoesNotMatch');
    if (failing?.test(line) === true) return refuse(503, 'SlowDown');
    const name = url.pathname.slice(1);
    if (!name.startsWith(`${bucketName}/`)) return refuse(404, 'NoSuchBucket');
    const uploadId = url.searchParams.get('uploadId') ?? '';
    const parts = uploads.get(uploadId);
    if (uploadId !== '' && parts === undefined) return refuse(404, 'NoSuchUpload');
    if (request.method === 'POST' && url.searchParams.has('uploads')) {
      uploads.set(`upload-${received.length}`, []);
      return response.writeHead(200).end(`<Result><UploadId>upload-${received.length}</UploadId></Result>`);
    }
    if (request.method === 'POST' && parts !== undefined) {
      const given = [...body.toString().matchAll(/<ETag>(.*?)<\/ETag>/g)].map(([, tag = '']) =>
        tag.replaceAll('&quot;', '"'),
      );
      uploads.delete(uploadId);
      // The error comes after the status, as the documentation says.
      if (given.join() !== parts.map(tagOf).join()) return response.writeHead(200).end('<Code>InvalidPart</Code>');
      objects.set(name, Buffer.concat(parts));
      return response.writeHead(200).end('<CompleteMultipartUploadResult/>');
    }
    if (request.method === 'PUT') {
      if (parts === undefined) objects.set(name, body);
      else parts[Number(url.searchParams.get('partNumber')) - 1] = body;
      return response.writeHead(200, { etag: tagOf(body) }).end();
    }
    if (request.method === 'DELETE' && parts !== undefined) {
      uploads.delete(uploadId);
      return response.writeHead(204).end();
    }
    if (request.method === 'DELETE') {
      objects.delete(name);
      return response.writeHead(204).end();
    }
    if (url.searchParams.get('list-type') === '2') {
      const prefix = `${bucketName}/${url.searchParams.get('prefix') ?? ''}`;
      const keys = [...objects.keys()]
        .filter((key) => key.startsWith(prefix) && key > `${bucketName}/${url.searchParams.get('start-after') ?? ''}`)
        .sort()
        .slice(0, 1000);
      const list = keys.map((key) => `<Contents><Key>${key.slice(`${bucketName}/`.length)}</Key></Contents>`);
      return response.writeHead(200).end(`<ListBucketResult>${list.join('')}</ListBucketResult>`);
    }
    const found = objects.get(name);
    if (found === undefined) return refuse(404, 'NoSuchKey');
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    if (from === undefined) return response.writeHead(200).end(found);
    if ((request.headers['if-match'] ?? tagOf(found)) !== tagOf(found)) return refuse(412, 'PreconditionFailed');
    const part = found.subarray(Number(from), Number(to) + 1);
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${found.length}`;
    return response.writeHead(206, { 'content-range': range, etag: tagOf(found) }).end(part);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    uploads,
    received,
    fail(matches) {
      failing = matches;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Computes the signature a second time, as the documentation of AWS Signature Version 4 describes it. */
function isSigned({ method, headers }: IncomingMessage, url: URL, body: Buffer): boolean {
  const given = parametersOf(headers.authorization, url.searchParams);
  const [keyId, date = '', ...scope] = given.credential.split('/');
  if (keyId !== accessKeyId || scope.join('/') !== 'eu-west-1/s3/aws4_request') return false;
  const bodyDigest = given.isPresigned ? 'UNSIGNED-PAYLOAD' : digest(body);
  if (!given.isPresigned && headers['x-amz-content-sha256'] !== bodyDigest) return false;
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const lines = given.signedHeaders.split(';').map((name) => `${name}:${String(headers[name] ?? '')}\n`);
  const parts = [method, url.pathname, query, lines.join(''), given.signedHeaders, bodyDigest];
  const toSign = ['AWS4-HMAC-SHA256', given.time, [date, ...scope].join('/'), digest(parts.join('\n'))].join('\n');
  const key = scope.reduce<string | Buffer>((secret, text) => mac(secret, text), mac(`AWS4${secretAccessKey}`, date));
  return mac(key, toSign).toString('hex') === given.signature && given.signedHeaders.split(';').includes('host');

  function parametersOf(authorization: string | undefined, search: URLSearchParams) {
    if (authorization === undefined) {
      const parameter = (name: string) => search.get(`X-Amz-${name}`) ?? '';
      return {
        isPresigned: true,
        credential: parameter('Credential'),
        signedHeaders: parameter('SignedHeaders'),
        signature: parameter('Signature'),
        time: parameter('Date'),
      };
    }
    const parameter = (name: string) => new RegExp(`${name}=([^, ]+)`).exec(authorization)?.[1] ?? '';
    return {
      isPresigned: false,
      credential: parameter('Credential'),
      signedHeaders: parameter('SignedHeaders'),
      signature: parameter('Signature'),
      time: String(headers['x-amz-date']),
    };
  }
}

const digest = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
