import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config/config.js';
import { mailProviders, withholdsCodes } from '../../config/contradictions.js';
import { isLoopback } from '../../lib/urls.js';

/** Whether the console providers of SMS and mail may print codes. */
export interface ConsoleCodes {
  /** Why nothing is printed; undefined if it may be. */
  refusal(): string | undefined;
  /** Sees each request; undefined if no request can change the answer. */
  readonly watch: ((request: IncomingMessage) => void) | undefined;
}

/**
 * A person who reads the output of the console providers can log in as any user. So codes are printed only while the service
 * is not public: PUBLIC_URL is a loopback URL or unset, and no proxy on another machine has sent a request. The first such
 * request closes the output until the process ends, and the log says why. ALLOW_CONSOLE_CODES=true overrides both.
 */
export function createConsoleCodes(config: Config, log: { warn(fields: object, message: string): void }): ConsoleCodes {
  const isUsed = config.SMS_PROVIDER.includes('console') || mailProviders(config).includes('console');
  let refusal = withholdsCodes(config) ? 'PUBLIC_URL is not a loopback URL' : undefined;
  const canChange = isUsed && !config.ALLOW_CONSOLE_CODES && refusal === undefined;
  return {
    refusal: () => refusal,
    watch: canChange
      ? ({ socket, rawHeaders }) => {
          // The headers come first, because reading the address of each request takes longer.
          if (refusal !== undefined || !hasForwardedHeader(rawHeaders) || isLoopback(bare(socket.remoteAddress)))
            return;
          refusal = 'a proxy on another machine has sent a request';
          log.warn(
            {},
            `from now on, this process prints no codes of SMS_PROVIDER=console and MAIL_PROVIDER=console, because ${refusal}. Configure a provider; for tests, ALLOW_CONSOLE_CODES=true prints them`,
          );
        }
      : undefined,
  };
}

const forwarded = 'x-forwarded-';

/** @param rawHeaders names and values in turns, as the client has sent them */
function hasForwardedHeader(rawHeaders: readonly string[]): boolean {
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const name = rawHeaders[place] ?? '';
    if (name.length > forwarded.length && name.slice(0, forwarded.length).toLowerCase() === forwarded) return true;
  }
  return false;
}

const bare = (address = '') => address.replace(/%.*$/, '');
