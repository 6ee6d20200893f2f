import type { BreachedPasswords } from '../../authentication/secrets/breached-passwords.js';
import { createTurnstile } from '../../lib/turnstile.js';
import type { Outbound } from '../outbound.js';
import { sha1Of } from './sha1.js';

export interface BreachedRangeOptions {
  /** Five characters of a hash are put behind it. */
  readonly url: string;
  readonly outbound: Outbound;
  readonly onFailure: (error: unknown) => void;
}

/** Characters of the hash that leave this machine: hundreds of known passwords share them, and unknown ones without end. */
const prefixLength = 5;
/** Milliseconds, of the request of a person who waits. */
const totalTimeoutMs = 2000;
/** Asked at a time, and waiting: also those who have no account yet can ask. Beyond, it is as if it did not answer. */
const requests = { width: 16, length: 64, patience: totalTimeoutMs };
/** A range has some 2,000 lines of 40 bytes, padding included. */
const maxResponseBytes = 512 * 1024;

/**
 * The range API of Have I Been Pwned, or one that works alike: `GET {url}/{first five characters}` gives the `REST:count`
 * of every hash that begins so. Padded, so that the length of the answer does not tell which range was asked for; padding
 * has a count of 0.
 */
export function createBreachedRange({ url, outbound, onFailure }: BreachedRangeOptions): BreachedPasswords {
  const base = url.replace(/\/+$/, '');
  const turn = createTurnstile(requests);
  return {
    async contains(password) {
      const hash = sha1Of(password);
      try {
        const request = {
          url: `${base}/${hash.slice(0, prefixLength)}`,
          method: 'GET' as const,
          headers: { 'add-padding': 'true', 'user-agent': 'Postern', 'accept-encoding': 'identity' },
          ...{ totalTimeoutMs, maxResponseBytes },
        };
        const { status, body } = await turn(() => outbound.request(request));
        if (status !== 200) throw new Error(`the list of breached passwords answered ${status}`);
        return countOf(body.toString('latin1'), hash.slice(prefixLength)) > 0;
      } catch (error) {
        onFailure(error);
        return false;
      }
    },
  };
}

function countOf(range: string, rest: string): number {
  const line = range.split('\n').find((each) => each.slice(0, rest.length).toUpperCase() === rest);
  return Number(line?.slice(rest.length + 1).trim() ?? 0);
}
