import type { Config } from '../../config/config.js';
import { isLoopback, parseUrl } from '../../lib/urls.js';
import { createUnsubscribe, type Unsubscribe } from '../../notifications/preferences/unsubscribe.js';
import type { Base } from '../base/base.js';
import { publicUrlOf } from './authenticators.js';

/** The URL before `/u/` of the links. Undefined: mails can have none, because mail programs post to https only (RFC 8058). */
export function unsubscribeUrl(config: Pick<Config, 'PUBLIC_URL'>): string | undefined {
  const url = publicUrlOf(config);
  const { protocol, hostname = '' } = parseUrl(url ?? '') ?? {};
  return protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, '')) ? url : undefined;
}

/** The links in mails by which people turn a category off. */
export function createConfiguredUnsubscribe({ config, database, keys }: Base): Unsubscribe {
  const { MAIL_FROM: from, MAIL_FOOTER: footer } = config;
  return createUnsubscribe({
    database,
    keys,
    publicUrl: unsubscribeUrl(config),
    // Only the console provider has no sender.
    domain: from?.address.slice(from.address.lastIndexOf('@') + 1) ?? 'localhost',
    footer,
  });
}
