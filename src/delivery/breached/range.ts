import type { BreachedPasswords } from '../../credentials/breached-passwords.js';
import { createConcurrencyLimiter } from '../../lib/concurrency-limiter.js';
import { sha1UpperHex } from '../../lib/crypto/digests.js';
import type { Outbound } from '../outbound.js';

export interface BreachedRangeOptions {
  /** The first five characters of a hash are appended to it. */
  readonly url: string;
  readonly outbound: Outbound;
  readonly onFailure: (error: unknown) => void;
}

/** The number of characters of the hash that are sent. Hundreds of breached passwords share them (k-anonymity). */
const prefixLength = 5;
/** Milliseconds. A user waits for the result. */
const totalTimeoutMs = 2000;
/** The limits of concurrent requests: clients without an account can cause them. Requests beyond the limits fail. */
const requestLimits = { concurrency: 16, maxWaiting: 64, timeoutMs: totalTimeoutMs };
/** A range has about 2,000 lines of 40 bytes, including padding. */
const maxResponseBytes = 512 * 1024;

/**
 * Queries the range API of Have I Been Pwned (https://haveibeenpwned.com/API/v3#PwnedPasswords), or a compatible one: `GET
 * {url}/{first five characters}` returns `SUFFIX:count` for every SHA-1 hash with this prefix. It asks for padding, so that
 * the length of a response does not show the range.
 */
export function createBreachedRange({ url, outbound, onFailure }: BreachedRangeOptions): BreachedPasswords {
  const base = url.replace(/\/+$/, '');
  const limit = createConcurrencyLimiter(requestLimits);
  return {
    async contains(password) {
      const hash = sha1UpperHex(password);
      try {
        const request = {
          url: `${base}/${hash.slice(0, prefixLength)}`,
          method: 'GET' as const,
          headers: { 'add-padding': 'true', 'user-agent': 'Postern', 'accept-encoding': 'identity' },
          totalTimeoutMs,
          maxResponseBytes,
        };
        const { status, body } = await limit(() => outbound.request(request));
        if (status !== 200) throw new Error(`the list of breached passwords answered ${status}`);
        return countOf(body.toString('latin1'), hash.slice(prefixLength)) > 0;
      } catch (error) {
        onFailure(error);
        return undefined;
      }
    },
  };
}

function countOf(range: string, suffix: string): number {
  const line = range.split('\n').find((candidate) => candidate.slice(0, suffix.length).toUpperCase() === suffix);
  return Number(line?.slice(suffix.length + 1).trim() ?? 0);
}
