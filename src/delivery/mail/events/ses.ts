import { createVerify, type KeyObject, X509Certificate } from 'node:crypto';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../../lib/json-object.js';
import { Problem } from '../../../lib/problem.js';
import { parseUrl } from '../../../lib/urls.js';
import type { MailEvent, MailEventReader } from '../../../messages/providers/mail-events.js';
import type { Outbound } from '../../outbound.js';
import { OutboundError } from '../../outbound-guard.js';

export interface SesEventsOptions {
  /** The only topic whose messages count. */
  readonly topicArn: string;
  readonly outbound: Pick<Outbound, 'request'>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** The origin of certificates and subscriptions. The default is that of Amazon SNS in the region of the topic. */
  readonly origin?: string;
}

/** Older messages, and those of the future, are refused. */
const maxAgeMs = 300_000;

/**
 * Reads the notifications of Amazon SES, which come through a topic of Amazon SNS. SNS signs each message with the key of a
 * certificate (docs.aws.amazon.com/sns: verifying message signatures). Postern fetches certificates, and confirms the
 * subscription of the topic, only at the host of SNS in the region of the topic.
 */
export function createSesEvents(options: SesEventsOptions): MailEventReader {
  const { topicArn, outbound, now = Date.now } = options;
  const region = topicArn.split(':')[3] ?? '';
  const suffix = topicArn.startsWith('arn:aws-cn:') ? '.cn' : '';
  const origin = options.origin ?? `https://sns.${region}.amazonaws.com${suffix}`;
  const keyOf = createCertificates(outbound, origin);

  async function isAuthentic(message: JsonObject): Promise<boolean> {
    const { TopicArn, Timestamp, SignatureVersion, Signature, SigningCertURL } = message;
    if (TopicArn !== topicArn || typeof Signature !== 'string') return false;
    if (!(Math.abs(now() - Date.parse(String(Timestamp))) <= maxAgeMs)) return false;
    const algorithm = SignatureVersion === '2' ? 'sha256' : SignatureVersion === '1' ? 'sha1' : undefined;
    const signed = signedText(message);
    if (algorithm === undefined || signed === undefined) return false;
    const key = await keyOf(String(SigningCertURL));
    return key !== undefined && createVerify(algorithm).update(signed).verify(key, Signature, 'base64');
  }

  return {
    name: 'ses',
    provider: 'ses',
    async read({ body }) {
      const message = parseJsonObject(body);
      if (message === undefined || !(await isAuthentic(message))) return undefined;
      if (message.Type === 'SubscriptionConfirmation') {
        const url = parseUrl(String(message.SubscribeURL));
        if (url?.origin !== origin) return undefined;
        await outbound.request({ url: url.href, method: 'GET' });
        return [];
      }
      return message.Type === 'Notification' ? eventsOf(parseJsonObject(String(message.Message)) ?? {}) : [];
    },
  };
}

const signedMembers: Readonly<Record<string, readonly string[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};

/** The text that SNS signs: each member on two lines. @returns undefined for another type or a member that is no text */
function signedText(message: JsonObject): string | undefined {
  const type = String(message.Type);
  const names = Object.hasOwn(signedMembers, type) ? signedMembers[type] : undefined;
  const present = names?.filter((name) => name !== 'Subject' || (message.Subject ?? null) !== null);
  if (present === undefined || present.some((name) => typeof message[name] !== 'string')) return undefined;
  return present.map((name) => `${name}\n${String(message[name])}\n`).join('');
}

/** SNS replaces its certificate now and then. */
const maxCertificates = 4;
const maxCertificateBytes = 16_384;

/** A certificate could not be fetched now. SNS repeats a message after 503, but never after 401. */
const notNow = () => new Problem('overloaded', { retryAfter: 5 });

/**
 * The keys of certificates by their URLs. Anyone can send a request that names a URL, so only one certificate is fetched at a
 * time, and only from the host of SNS. Messages with the same certificate wait for it together.
 */
function createCertificates(outbound: Pick<Outbound, 'request'>, origin: string) {
  const known = new Map<string, { readonly key: KeyObject; readonly validTo: number }>();
  let running: { readonly url: string; readonly key: Promise<KeyObject | undefined> } | undefined;

  /**
   * @returns undefined if the server has no such certificate
   * @throws Problem `overloaded` if it did not answer about it
   */
  async function fetchKey(url: string): Promise<KeyObject | undefined> {
    const { status, body } = await outbound
      .request({ url, method: 'GET', maxResponseBytes: maxCertificateBytes })
      .catch((error: unknown) => {
        if (error instanceof OutboundError && error.code === 'too_large') return { status: 404, body: Buffer.of() };
        throw error instanceof OutboundError ? notNow() : error;
      });
    if (status === 429 || status >= 500) throw notNow();
    const certificate = status === 200 ? readCertificate(body) : undefined;
    if (certificate === undefined) return undefined;
    const validTo = Date.parse(certificate.validTo);
    const isValid = Date.parse(certificate.validFrom) <= Date.now() && Date.now() < validTo;
    if (!isValid || certificate.publicKey.asymmetricKeyType !== 'rsa') return undefined;
    const [oldest] = known.keys();
    if (known.size >= maxCertificates && oldest !== undefined) known.delete(oldest);
    known.set(url, { key: certificate.publicKey, validTo });
    return certificate.publicKey;
  }

  return async (text: string): Promise<KeyObject | undefined> => {
    const url = parseUrl(text);
    const isOwn = url?.origin === origin && /^\/SimpleNotificationService-[0-9a-zA-Z]{1,64}\.pem$/.test(url.pathname);
    if (url === undefined || !isOwn || url.search !== '' || url.hash !== '') return undefined;
    const found = known.get(url.href);
    if (found !== undefined && Date.now() < found.validTo) return found.key;
    if (running !== undefined && running.url !== url.href) throw notNow();
    running ??= {
      url: url.href,
      key: fetchKey(url.href).finally(() => {
        running = undefined;
      }),
    };
    return running.key;
  };
}

function readCertificate(pem: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** The events of a notification of SES, or of an event of a configuration set. */
function eventsOf(notification: JsonObject): MailEvent[] {
  const { mail, bounce, complaint, delivery } = notification;
  const reference = isJsonObject(mail) && typeof mail.messageId === 'string' ? mail.messageId : '';
  const events = (outcome: MailEvent['outcome'], addresses: unknown): MailEvent[] =>
    Array.isArray(addresses)
      ? addresses.flatMap((recipient: unknown) => {
          const address = isJsonObject(recipient) ? recipient.emailAddress : recipient;
          return typeof address === 'string' ? [{ reference, address, outcome }] : [];
        })
      : [];
  switch (notification.notificationType ?? notification.eventType) {
    case 'Bounce':
      if (!isJsonObject(bounce)) return [];
      return events(bounce.bounceType === 'Permanent' ? 'hard_bounce' : 'soft_bounce', bounce.bouncedRecipients);
    case 'Complaint':
      // Somebody has marked the mail as not spam.
      if (!isJsonObject(complaint) || complaint.complaintFeedbackType === 'not-spam') return [];
      return events('complaint', complaint.complainedRecipients);
    case 'Delivery':
      return isJsonObject(delivery) ? events('delivered', delivery.recipients) : [];
    default:
      return [];
  }
}
