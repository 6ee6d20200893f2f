import { maxImageBytes } from '../contract/image.js';
import { type FieldError, Problem } from '../lib/problem.js';
import type { DownloadImage } from '../notifications/images/images.js';
import { type Outbound, OutboundError } from './outbound.js';

/** Milliseconds; the request that waits for it has 15 s in all. */
const totalTimeoutMs = 6000;

/**
 * Fetches images by the guarded way. What stands in the URL itself is told; of the host it names only that there was no
 * file to be had, so that nobody can ask for names and ports of an inner network.
 *
 * @param checkUrl says for people why a URL may not be called; undefined when it may
 */
export function createImageDownload(outbound: Outbound, checkUrl: (url: string) => string | undefined): DownloadImage {
  return async (url) => {
    const reason = checkUrl(url);
    if (reason !== undefined) throw fault({ field: 'url', code: 'invalid_url', params: { reason } });
    try {
      const { status, body } = await outbound.request({
        url,
        method: 'GET',
        headers: { accept: 'image/*', 'accept-encoding': 'identity' },
        maxResponseBytes: maxImageBytes,
        totalTimeoutMs,
      });
      if (status === 200) return body;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      if (error.code === 'too_large') {
        throw fault({ field: 'url', code: 'too_many_bytes', params: { max: maxImageBytes } }, error);
      }
      throw fault({ field: 'url', code: 'unreachable_url' }, error);
    }
    throw fault({ field: 'url', code: 'unreachable_url' });
  };
}

function fault(error: FieldError, cause?: OutboundError): Problem {
  return new Problem('validation_failed', { errors: [error], cause });
}
