import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import type { Outbound, OutboundResponse } from '../outbound.js';
import { codeOf, download, refusalError, type StoreRequest, upload } from './s3-large.js';

export interface S3Options {
  /** The URL of the store, without a path. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The HTTP client. Its guard must allow the endpoint, which an operator has configured. */
  readonly outbound: Outbound;
}

/** A bucket of a store with the API of Amazon S3. Each call rejects with `S3Error` or `OutboundError` if it failed. */
export interface S3Bucket {
  /** Stores an object completely, or not at all. */
  put(key: string, body: Buffer, contentType: string): Promise<void>;
  /** Undefined if there is no such object. */
  get(key: string): Promise<Buffer | undefined>;
  /** Succeeds if there is no such object. */
  remove(key: string): Promise<void>;
  /** The first keys that begin with a prefix and come after another key, at most 1000. */
  list(prefix: string, after?: string): Promise<string[]>;
  /** Stores an object of any size completely, or not at all. @returns its bytes */
  upload(key: string, content: AsyncIterable<Buffer>): Promise<number>;
  /** The content of an object of any size in parts. Undefined if there is no such object. */
  download(key: string): Promise<AsyncIterable<Buffer> | undefined>;
  /** A URL by which anyone can read the object for some seconds. */
  presign(key: string, seconds: number): Promise<string>;
}

/** Bytes. The largest object that is read. All renditions of the largest image together have fewer. */
const maxObjectBytes = 32 * 1024 * 1024;

/** Creates the client. Addresses have the form endpoint/bucket/key, which every store understands. */
export function createS3Bucket(options: S3Options): S3Bucket {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey, outbound } = options;
  const credentials = { accessKeyId, secretAccessKey, region, service: 's3' };
  const urlOf = (key: string) => new URL(`/${bucket}/${key}`, endpoint);

  async function call({ method, key, query, headers, body, totalTimeoutMs }: StoreRequest): Promise<OutboundResponse> {
    const url = urlOf(key);
    url.search = new URLSearchParams(query).toString();
    const digest = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const signer = new AwsV4Signer({
      ...credentials,
      method,
      url: url.href,
      headers: { 'x-amz-content-sha256': digest, ...headers },
    });
    const signed = await signer.sign();
    return outbound.request({
      url: signed.url.href,
      method,
      headers: Object.fromEntries(signed.headers),
      maxResponseBytes: maxObjectBytes,
      ...(body !== undefined && { body }),
      ...(totalTimeoutMs !== undefined && { totalTimeoutMs }),
    });
  }

  return {
    async put(key, body, contentType) {
      const answer = await call({ method: 'PUT', key, body, headers: { 'content-type': contentType } });
      if (answer.status !== 200) throw refusalError('store', answer);
    },
    async get(key) {
      const answer = await call({ method: 'GET', key });
      if (answer.status === 404 && codeOf(answer.body) !== 'NoSuchBucket') return undefined;
      if (answer.status !== 200) throw refusalError('read', answer);
      return answer.body;
    },
    async remove(key) {
      const answer = await call({ method: 'DELETE', key });
      if (answer.status !== 204 && answer.status !== 200 && answer.status !== 404) throw refusalError('remove', answer);
    },
    async list(prefix, after) {
      const query = { 'list-type': '2', 'max-keys': '1000', prefix, ...(after && { 'start-after': after }) };
      const answer = await call({ method: 'GET', key: '', query });
      if (answer.status !== 200) throw refusalError('list', answer);
      return [...answer.body.toString('utf8').matchAll(/<Key>([^<&]{1,1024})<\/Key>/g)].map(([, key]) => key ?? '');
    },
    upload: (key, content) => upload(call, key, content),
    download: (key) => download(call, key),
    async presign(key, seconds) {
      const url = urlOf(key);
      url.searchParams.set('X-Amz-Expires', String(seconds));
      const signed = await new AwsV4Signer({ ...credentials, method: 'GET', url: url.href, signQuery: true }).sign();
      return signed.url.href;
    },
  };
}
