import { maxImageBytes } from '../contract/image.js';
import { type FieldError, Problem } from '../lib/problem.js';
import type { DownloadImage } from '../notifications/images/images.js';
import type { Outbound } from './outbound.js';
import { OutboundError } from './outbound-guard.js';

/** Milliseconds. The request that waits for the image has 15 s in total. */
const totalTimeoutMs = 6000;

/**
 * Downloads images through `Outbound`. An error of the URL itself contains its reason. All failures of the host give the
 * same error, so that callers cannot scan names and ports of an internal network (OWASP SSRF Prevention Cheat Sheet).
 *
 * @param checkUrl returns why a URL may not be called, as text for people; undefined if it may
 */
export function createImageDownload(outbound: Outbound, checkUrl: (url: string) => string | undefined): DownloadImage {
  return async (url) => {
    const reason = checkUrl(url);
    if (reason !== undefined) throw validationProblem({ field: 'url', code: 'invalid_url', params: { reason } });
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
        throw validationProblem({ field: 'url', code: 'too_many_bytes', params: { max: maxImageBytes } }, error);
      }
      throw validationProblem({ field: 'url', code: 'unreachable_url' }, error);
    }
    throw validationProblem({ field: 'url', code: 'unreachable_url' });
  };
}

function validationProblem(error: FieldError, cause?: OutboundError): Problem {
  return new Problem('validation_failed', { errors: [error], cause });
}
