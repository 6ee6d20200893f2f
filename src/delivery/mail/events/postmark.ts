import { sha256 } from '../../../lib/crypto/digests.js';
import { equalBytes } from '../../../lib/crypto/secret-keys.js';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../../lib/json-object.js';
import type { MailEvent, MailEventReader } from '../../../messages/providers/mail-events.js';
import { postmarkHeader } from '../mail-content.js';

/**
 * Reads the webhooks of Postmark, to whose SMTP server the mails go. Postmark signs nothing: its URL contains a user and a
 * password, which it sends as Basic credentials. It returns the id of the mail as metadata.
 * @param secrets each is a password for any user, or `user:password`
 */
export function createPostmarkEvents(secrets: readonly string[]): MailEventReader {
  const digests = secrets.map(sha256);
  return {
    name: 'postmark',
    provider: 'smtp',
    async read({ headers, body }) {
      const given = credentialsOf(String(headers.authorization ?? '')).map(sha256);
      if (!digests.some((digest) => given.some((one) => equalBytes(digest, one)))) return undefined;
      const event = parseJsonObject(body) ?? {};
      const outcome = outcomeOf(event);
      const address = [event.Email, event.Recipient].find((value) => typeof value === 'string');
      const reference = referenceOf(event);
      return outcome === undefined || address === undefined ? [] : [{ reference, address: String(address), outcome }];
    },
  };
}

/** The credentials as a whole, and the password alone. */
function credentialsOf(header: string): string[] {
  const [, encoded] = /^Basic ([A-Za-z0-9+/]{1,1000}={0,2})$/i.exec(header) ?? [];
  if (encoded === undefined) return [];
  const credentials = Buffer.from(encoded, 'base64').toString('utf8');
  return [credentials, credentials.slice(credentials.indexOf(':') + 1)];
}

/** The types of bounces after which Postmark itself no longer sends to the address. */
const hardBounces: readonly unknown[] = ['HardBounce', 'BadEmailAddress'];
/** The other types that mean that the mail did not arrive. All further types are answers of a person or a program. */
const softBounces: readonly unknown[] = [
  'SoftBounce',
  'DnsError',
  'Blocked',
  'SpamNotification',
  'Undeliverable',
  'Unknown',
];

function outcomeOf({ RecordType, Type }: JsonObject): MailEvent['outcome'] | undefined {
  if (RecordType === 'Delivery') return 'delivered';
  if (RecordType === 'SpamComplaint') return 'complaint';
  if (RecordType !== 'Bounce') return undefined;
  if (hardBounces.includes(Type)) return 'hard_bounce';
  return softBounces.includes(Type) ? 'soft_bounce' : undefined;
}

function referenceOf({ Metadata }: JsonObject): string {
  const entries = isJsonObject(Metadata) ? Object.entries(Metadata) : [];
  const [, id] = entries.find(([name]) => `x-pm-metadata-${name}`.toLowerCase() === postmarkHeader.toLowerCase()) ?? [];
  return typeof id === 'string' ? id : '';
}
