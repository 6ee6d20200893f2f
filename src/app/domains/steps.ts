import type { Config } from '../../config/config.js';
import { mailProviders } from '../../config/contradictions.js';
import type { StepChannel } from '../../contract/category.js';
import type { Queryable } from '../../database/database.js';
import { type Relay, startRelay } from '../../database/relay.js';
import type { JobGroup } from '../../delivery/queue.js';
import { lockHolds } from '../../identities/accounts.js';
import { createOutboundRule } from '../../lib/outbound-rule.js';
import type { RequestLimits } from '../../limits/request-limits.js';
import { type MailPart, mailHtml } from '../../messages/mail-html.js';
import type { MailSender } from '../../messages/mail-sender.js';
import { stepReceiptId } from '../../messages/providers/receipts.js';
import type { SmsSender } from '../../messages/sms-sender.js';
import type { KnownCategories } from '../../notifications/categories/categories.js';
import type { Channels } from '../../notifications/channels/channels.js';
import { createRates } from '../../notifications/channels/rates.js';
import { createDigestClosing } from '../../notifications/deliveries/digests.js';
import { createStepDryRun, type DecideSteps } from '../../notifications/deliveries/dry-run.js';
import { createDueSteps } from '../../notifications/deliveries/due.js';
import type { AddressFacts, ReadAddresses } from '../../notifications/deliveries/facts.js';
import type { AttemptJob } from '../../notifications/deliveries/jobs.js';
import { type MessageChannel, stepTask } from '../../notifications/deliveries/queue.js';
import { createQuietRelease } from '../../notifications/deliveries/quiet-hours.js';
import { createStepSending } from '../../notifications/deliveries/send.js';
import type { StepMessage, StepOutcome, StepSender } from '../../notifications/deliveries/sender.js';
import type { Unsubscribe, UnsubscribeParts } from '../../notifications/preferences/unsubscribe.js';
import type { Base } from '../base/base.js';
import { createHealthRecorder } from '../base/providers.js';
import { createMailSender, pooledConnections, reportsMails } from './mail.js';
import type { Messaging } from './messages.js';
import type { PushDomain } from './push.js';
import { type ConsoleOutput, createSmsSender } from './sms.js';

/** The steps of notifications by mail and SMS, and the pushes that are due later. */
export interface StepDomain {
  /** Call it after notifications with steps were published and committed. */
  onPublished(): void;
  /** The jobs of mail and SMS. A provider that hangs never blocks a code. */
  readonly jobGroups: readonly JobGroup[];
  /** Decides about the steps of a dry run. */
  readonly decideSteps: DecideSteps;
  /** Starts deciding about the steps that are due. */
  startRelay(): { stop(): Promise<void> };
}

interface StepParts {
  readonly push: Pick<PushDomain, 'onPublished'>;
  readonly messaging: Pick<Messaging, 'suppressions' | 'mailEvents'>;
  readonly limits: SmsLimits;
  readonly consoleOutput: ConsoleOutput;
  readonly channels: Pick<Channels, 'isPaused' | 'waitOf'>;
  readonly unsubscribe: Pick<Unsubscribe, 'partsFor'>;
}
type SmsLimits = Pick<RequestLimits, 'countNotificationSms' | 'waitForNotificationSms'>;

/**
 * How many mails and SMS of notifications an instance sends at a time. One group has both, because each needs a connection to the database.
 */
const concurrency = pooledConnections;

/** Milliseconds between two looks for steps that are due: no notice comes when their time comes. 99 % begin within a second. */
const dueInterval = 500;

/** The lifetime of a mail or SMS whose category says nothing. */
const defaultTtl = 72 * 3_600_000;

/** How late a step may be if its category has no `ttl`, in milliseconds. */
export const stepTtl = ({ PUSH_TTL: push }: Pick<Config, 'PUSH_TTL'>): Record<StepChannel, number> => ({
  ...{ push, email: defaultTtl, sms: defaultTtl },
});

/** The channels that this installation can send steps by. Pushes need no setting here: a device without a token gets none. */
export function configuredChannels(config: Config): StepChannel[] {
  return [
    'push',
    ...(mailProviders(config).length > 0 ? (['email'] as const) : []),
    ...(config.SMS_PROVIDER.length > 0 ? (['sms'] as const) : []),
  ];
}

/** Creates the engine of steps. */
export async function createStepDomain(
  base: Base,
  categories: KnownCategories,
  options: StepParts,
): Promise<StepDomain> {
  const { config, log, database, statistics } = base;
  const { counters } = statistics;
  const { push, messaging } = options;
  const senders = await createSenders(base, options);
  const channels: StepChannel[] = ['push', ...senders.map(({ channel }) => channel)];
  const readAddresses = createAddressReader(messaging, config);
  const { DEFAULT_TIME_ZONE: timeZone } = config;
  const shared = { database, categories, readAddresses, lockHolds, counters, timeZone };
  const send = createStepSending({
    ...shared,
    senders,
    ttl: stepTtl(config),
    app: config.APP_NAME,
    onSent: base.meters?.deliveryLag.observe,
    onError: (error, channel) => log.error({ err: error, channel }, 'a message of a notification could not be made'),
  });
  const step = createDueSteps({
    ...shared,
    channels,
    isPaused: options.channels.isPaused,
    ttl: stepTtl(config),
    onPushes: () => push.onPublished?.(),
  });
  const closeDigests = createDigestClosing({ database, categories, counters });
  const release = createQuietRelease(database);
  const tasks = senders.map(
    ({ channel }) => [stepTask(channel), (job: unknown) => send(channel, job as AttemptJob)] as const,
  );
  let relay: Relay | undefined;
  return {
    onPublished: () => relay?.notify(),
    decideSteps: createStepDryRun({
      ...{ ...shared, channels },
      isAllowedOut: createOutboundRule(config.OUTBOUND, config.OUTBOUND_ALLOWLIST),
    }),
    jobGroups: tasks.length === 0 ? [] : [{ tasks: Object.fromEntries(tasks), concurrency }],
    startRelay() {
      relay = startRelay(
        // One after the other: they take one connection, and do not wait for each other's rows.
        async () => {
          const [stepped, released, closed] = [await step(), await release(), await closeDigests()];
          return stepped || released || closed;
        },
        (error) => log.warn({ err: error }, 'the steps of notifications could not be carried out'),
        dueInterval,
      );
      return relay;
    },
  };
}

/** The rules that forbid messages to addresses: suppressions of mail, and OUTBOUND. */
function createAddressReader({ suppressions }: Pick<Messaging, 'suppressions'>, config: Config): ReadAddresses {
  const isAllowedOut = createOutboundRule(config.OUTBOUND, config.OUTBOUND_ALLOWLIST);
  return async (handle: Queryable, channel, addresses) => {
    const suppressed = channel === 'email' ? await suppressions.among(handle, addresses) : new Set<string>();
    return new Map(
      addresses.map((address): [string, AddressFacts] => [
        address,
        { isSuppressed: suppressed.has(address), isAllowedOut: isAllowedOut([address]) },
      ]),
    );
  };
}

/** The limits of a channel: a pause, and its rate. */
interface Brakes {
  /** Seconds to wait because of a pause. */
  readonly heldFor: (channel: MessageChannel) => number;
  /** Milliseconds until the rate allows the next message. */
  readonly pauseOf: (channel: MessageChannel) => Promise<number>;
}

/** The senders of the configured channels. They have connections of their own, so that no code waits for a notification. */
async function createSenders(
  base: Base,
  { messaging, limits, consoleOutput, channels, unsubscribe }: Omit<StepParts, 'push'>,
): Promise<StepSender[]> {
  const { config, log, outbound, texts, database } = base;
  const onHealth = createHealthRecorder({ database, log });
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
  }: Pick<Messaging, 'mailEvents'> & Pick<StepParts, 'unsubscribe'> & { readonly brakes: Brakes },
): StepSender {
  const reporting = new Set<string>(mailProviders(config).filter((name) => reportsMails(name, config)));
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
          ...{ ...common(message, 'email.notification'), subject, headers: parts.headers },
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
  ...{ id, kind, to, notificationId, expiresAt },
  ...{ code: null, authenticationId: null },
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
