import { Problem } from '../../lib/problem.js';
import { parseUrl } from '../../lib/urls.js';

/**
 * @param listed REDIRECT_URIS
 * @param field the member of the request
 * @throws Problem `redirect_not_allowed` for an address that is not listed
 */
export function requireListed(listed: readonly string[], field: 'redirect_to' | 'link_to', given: string): void {
  if (isListed(listed, given)) return;
  throw new Problem('redirect_not_allowed', { errors: [{ field, code: 'redirect_not_allowed' }] });
}

/** Whether REDIRECT_URIS lists an address. */
export const isListed = (listed: readonly string[], given: string): boolean => entryOf(listed, given) !== undefined;

/** The entry of REDIRECT_URIS that lists an address. */
export const entryOf = (listed: readonly string[], given: string): string | undefined =>
  listed.find((uri) => isSameUri(uri, given));

/** Whether two addresses are the same text. Apps on a loopback address may use any port (RFC 8252, 7.3). */
function isSameUri(listed: string, given: string): boolean {
  const withoutPort = (uri: string) => uri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\])):\d{1,5}(?=[/?]|$)/, '$1');
  return withoutPort(listed) === withoutPort(given) && parseUrl(given) !== undefined;
}

/** An address of an app for people, without what it may carry. */
export const shownUri = (uri: string): string => uri.replace(/[?#].*$/, '?…').replace(/\/\/[^/]*@/, '//…@');
