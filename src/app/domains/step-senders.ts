import type { RequestLimits } from '../../limits/request-limits.js';
import { type MailPart, mailHtml } from '../../messages/mail-html.js';
import type { MailSender } from '../../messages/mail-sender.js';
import { stepReceiptId } from '../../messages/providers/receipts.js';
import type { SmsSender } from '../../messages/sms-sender.js';
import type { Channels } from '../../notifications/channels/channels.js';
import { createRates } from '../../notifications/channels/rates.js';
import type { MessageChannel } from '../../notifications/deliveries/queue.js';
import type { StepMessage, StepOutcome, StepSender } from '../../notifications/deliveries/sender.js';
import type { Unsubscribe, UnsubscribeParts } from '../../notifications/preferences/unsubscribe.js';
import type { Base } from '../base/base.js';
import { createMailSender, reportingMailProviders } from './mail.js';
import type { Messaging } from './messages.js';
import { type ConsoleOutput, createSmsSender } from './sms.js';

/** What the senders of steps need. */
export interface SenderParts {
  readonly messaging: Pick<Messaging, 'mailEvents'>;
  readonly limits: SmsLimits;
  readonly consoleOutput: ConsoleOutput;
  readonly channels: Pick<Channels, 'waitOf'>;
  readonly unsubscribe: Pick<Unsubscribe, 'partsFor'>;
}
type SmsLimits = Pick<RequestLimits, 'countNotificationSms' | 'waitForNotificationSms'>;

/** The limits of a channel: a pause, and its rate. */
interface Brakes {
  /** Seconds to wait because of a pause. */
  readonly heldFor: (channel: MessageChannel) => number;
  /** Milliseconds until the rate allows the next message. */
  readonly pauseOf: (channel: MessageChannel) => Promise<number>;
}

/** The senders of the configured channels. They have connections of their own, so that no code waits for a notification. */
export async function createSenders(
  base: Base,
  { messaging, limits, consoleOutput, channels, unsubscribe }: SenderParts,
): Promise<StepSender[]> {
  const { config, outbound, texts, database, onHealth } = base;
  const mail = await createMailSender(
    { config, brand: texts.brand, outbound, consoleOutput },
    onHealth,
    base.lifecycle,
  );
  const sms = await createSmsSender(config, outbound, consoleOutput, onHealth);
  const rates = createRates(database, { email: config.MAIL_RATE, sms: config.SMS_RATE });
  const brakes: Brakes = { heldFor: channels.waitOf, pauseOf: rates.pauseBefore };
  return [
    ...(mail === undefined ? [] : [createMailSteps(mail, base, { ...messaging, unsubscribe, brakes })]),
    ...(sms === undefined ? [] : [createSmsSteps(sms, limits, brakes)]),
  ];
}

/** Mails of notifications. Those that are not critical have a link that turns their category off. */
function createMailSteps(
  mail: MailSender,
  { config, texts: { brand } }: Base,
  {
    mailEvents,
    unsubscribe,
    brakes,
  }: Pick<Messaging, 'mailEvents'> & Pick<SenderParts, 'unsubscribe'> & { readonly brakes: Brakes },
): StepSender {
  const reporting = reportingMailProviders(config);
  return {
    channel: 'email',
    heldFor: () => brakes.heldFor('email'),
    pauseBefore: () => brakes.pauseOf('email'),
    async send(message) {
      const { content, locale, userId, category, isCritical } = message;
      const parts = unsubscribe.partsFor({ name: category, is_critical: isCritical }, { id: userId, locale });
      // The operator has removed PUBLIC_URL since the category was defined.
      if (parts === undefined) {
        const error = 'mail that is not critical needs an https PUBLIC_URL for its link to unsubscribe';
        return { outcome: 'failed', reason: 'no_provider', error, isUnknownMailbox: false };
      }
      const subject = content.subject ?? '';
      const html =
        content.html ??
        mailHtml(brand, { subject, parts: partsOf(message), language: locale ?? 'en', fill: (part) => part });
      return outcomeOf(() =>
        mail.send({
          ...common(message, 'email.notification'),
          subject,
          headers: parts.headers,
          ...withFooter({ text: content.text, html }, parts.footer),
        }),
      );
    },
    async recordAccepted(tx, { userId, id, notificationId, to: address }, { provider, reference }, store) {
      // Also a mail without reports: it counts for the share of mails that come back. Before the delivery, because reports about an
      // earlier attempt lock both in this order.
      const isReported = reference !== null && reporting.has(provider);
      const mail = { userId, id, notificationId, provider, address, reference: isReported ? reference : id };
      await mailEvents.recordAccepted(tx, mail);
      if (!(await store())) await mailEvents.forget(tx, mail);
      else if (isReported) await mailEvents.applyEarly(tx, mail);
    },
    async recordUnknownMailbox(tx, { userId, id, notificationId, to: address }, provider, store) {
      const mail = { userId, id, notificationId, provider, address, reference: id };
      await mailEvents.recordAccepted(tx, mail);
      if (await store()) await mailEvents.applyHardBounce(tx, mail);
      else await mailEvents.forget(tx, mail);
    },
  };
}

/** The footer stands at the end of the text, and of the body of the HTML. */
function withFooter({ text, html }: { text: string; html: string }, footer: UnsubscribeParts['footer']) {
  if (footer === null) return { text, html };
  // Not in a lower-case copy, whose length may differ.
  const at = [...html.matchAll(/<\/body>/gi)].at(-1)?.index ?? html.length;
  return { text: `${text}\n\n${footer.text}`, html: `${html.slice(0, at)}${footer.html}${html.slice(at)}` };
}

/** The parts of a mail without HTML of its own. Not `mailParts`: an actor must not be able to add a part. */
function partsOf({ content: { text }, url }: StepMessage): MailPart[] {
  const linkLine = url === null ? '' : `\n${url}`;
  const hasLink = url !== null && text.endsWith(linkLine);
  const paragraph = { type: 'paragraph', text: hasLink ? text.slice(0, -linkLine.length) : text } as const;
  return hasLink ? [paragraph, { type: 'value', text: url }] : [paragraph];
}

function createSmsSteps(sms: SmsSender, limits: SmsLimits, brakes: Brakes): StepSender {
  return {
    channel: 'sms',
    heldFor: () => brakes.heldFor('sms'),
    // A number without room must not use up SMS_RATE, and a rate without room must not use up the number's limit.
    pauseBefore: async ({ to }) =>
      1000 * (await limits.waitForNotificationSms(to)) ||
      (await brakes.pauseOf('sms')) ||
      1000 * (await limits.countNotificationSms(to)),
    send: (message) =>
      outcomeOf(() =>
        sms.send({
          ...common(message, 'sms.notification'),
          receiptId: stepReceiptId(message.userId, message.id),
          text: message.content.text,
        }),
      ),
    recordAccepted: async (_tx, _message, _accepted, store) => void (await store()),
    recordUnknownMailbox: async (_tx, _message, _provider, store) => void (await store()),
  };
}

/** What mails and SMS of notifications have in common. They have no code. */
const common = ({ id, notificationId, to, expiresAt }: StepMessage, kind: string) => ({
  id,
  kind,
  to,
  notificationId,
  expiresAt,
  code: null,
  authenticationId: null,
});

/** The outcome of a call of a provider. */
async function outcomeOf(call: () => ReturnType<MailSender['send']>): Promise<StepOutcome> {
  try {
    return { outcome: 'sent', ...(await call()) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { permanent, failure, provider, retryAfter, isUnknownMailbox } = error as Error & ProviderMembers;
    const { message } = error;
    if (permanent !== true) return { outcome: 'retry', error: message, afterSeconds: retryAfter };
    return {
      outcome: 'failed',
      reason: failure === 'invalid' ? 'recipient_refused' : 'no_provider',
      error: message,
      provider,
      isUnknownMailbox: isUnknownMailbox === true,
    };
  }
}

/** The members of an error of a provider. */
interface ProviderMembers {
  readonly permanent?: boolean;
  readonly failure?: string;
  readonly provider?: string;
  readonly retryAfter?: number;
  readonly isUnknownMailbox?: boolean;
}
