import type { Secret } from '../../config/parsers.js';
import { createOutbound } from '../../delivery/outbound.js';
import type { S3Bucket } from '../../delivery/storage/s3-client.js';

/** Connects to a bucket. The code for buckets is loaded only then. @param options.endpoint undefined: that of AWS */
export async function openBucket(options: {
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secret: Secret;
}): Promise<{ readonly bucket: S3Bucket; close(): Promise<void> }> {
  const { endpoint, region, bucket, accessKeyId, secret } = options;
  const { createS3Bucket } = await import('../../delivery/storage/s3-client.js');
  // As with the mail server, an operator has chosen the endpoint, so it may have a private address.
  const outbound = createOutbound({ allowPrivateNetworkTargets: true });
  return {
    bucket: createS3Bucket({
      endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
      region,
      bucket,
      accessKeyId,
      secretAccessKey: secret.reveal(),
      outbound,
    }),
    close: () => outbound.close(),
  };
}
