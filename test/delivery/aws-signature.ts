import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ReceivedRequest } from './local-server.js';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly service: string;
}

/** Computes the signature a second time, as the documentation of AWS Signature Version 4 describes it, for eu-west-1. */
export function isSignedByAws(
  { url = '', headers, body }: ReceivedRequest,
  { accessKeyId, secretAccessKey, service }: AwsCredentials,
): boolean {
  const [, key, date = '', of, signedHeaders = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/eu-west-1\/(\w+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  if (key !== accessKeyId || of !== service) return false;
  if (!['host', 'x-amz-date'].every((name) => signedHeaders.split(';').includes(name))) return false;
  const lines = signedHeaders.split(';').map((name) => `${name}:${textOf(headers, name)}\n`);
  const digest = (text: string) => createHash('sha256').update(text).digest('hex');
  const canonical = ['POST', url, '', lines.join(''), signedHeaders, digest(body)].join('\n');
  const time = textOf(headers, 'x-amz-date');
  const toSign = ['AWS4-HMAC-SHA256', time, `${date}/eu-west-1/${service}/aws4_request`, digest(canonical)].join('\n');
  const mac = (secret: string | Buffer, text: string) => createHmac('sha256', secret).update(text).digest();
  const signing = ['eu-west-1', service, 'aws4_request'].reduce(mac, mac(`AWS4${secretAccessKey}`, date));
  return mac(signing, toSign).toString('hex') === signature;
}

const textOf = (headers: IncomingHttpHeaders, name: string) => String(headers[name] ?? '');
