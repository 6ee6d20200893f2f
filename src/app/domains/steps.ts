import type { Config } from '../../config/config.js';
import { mailProviders } from '../../config/contradictions.js';
import { type StepChannel, stepChannels } from '../../contract/category.js';
import type { Queryable } from '../../database/database.js';
import { type Relay, startRelay } from '../../database/relay.js';
import type { JobGroup } from '../../delivery/queue.js';
import { lockHolds } from '../../identities/accounts.js';
import type { OutboundRule } from '../../lib/outbound-rule.js';
import type { KnownCategories } from '../../notifications/categories/categories.js';
import type { Channels } from '../../notifications/channels/channels.js';
import { createDigestClosing } from '../../notifications/deliveries/digests.js';
import { createStepDryRun, type DecideSteps } from '../../notifications/deliveries/dry-run.js';
import { createDueSteps } from '../../notifications/deliveries/due.js';
import { readDueWork } from '../../notifications/deliveries/due-work.js';
import type { AddressFacts, ReadAddresses } from '../../notifications/deliveries/facts.js';
import type { AttemptJob } from '../../notifications/deliveries/jobs.js';
import { stepTask } from '../../notifications/deliveries/queue.js';
import { createQuietRelease } from '../../notifications/deliveries/quiet-hours.js';
import { createStepSending } from '../../notifications/deliveries/send.js';
import type { Base } from '../base/base.js';
import { pooledConnections } from './mail.js';
import type { Messaging } from './messages.js';
import type { PushDomain } from './push.js';
import { createSenders, type SenderParts } from './step-senders.js';

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

interface StepParts extends SenderParts {
  readonly push: Pick<PushDomain, 'onPublished'>;
  readonly messaging: Pick<Messaging, 'suppressions' | 'mailEvents'>;
  readonly channels: Pick<Channels, 'isPaused' | 'waitOf'>;
}

/**
 * How many mails and SMS of notifications an instance sends at a time: as many as the mail provider has connections. One group has both, because
 * each group needs a connection to the database.
 */
const concurrency = pooledConnections;

/** Milliseconds between two looks for steps that are due: no notice comes when their time comes. */
const dueInterval = 500;

/** The lifetime of a mail or SMS whose category says nothing. */
const defaultTtl = 72 * 3_600_000;

/** How late a step may be if its category has no `ttl`, in milliseconds. */
export const stepTtl = ({ PUSH_TTL: push }: Pick<Config, 'PUSH_TTL'>): Record<StepChannel, number> => ({
  push,
  email: defaultTtl,
  sms: defaultTtl,
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
  const { config, log, database, statistics, isAllowedOut } = base;
  const { counters } = statistics;
  const { push, messaging } = options;
  const senders = await createSenders(base, options);
  const channels: StepChannel[] = ['push', ...senders.map(({ channel }) => channel)];
  const readAddresses = createAddressReader(messaging, isAllowedOut);
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
    decideSteps: createStepDryRun({ ...shared, channels, isAllowedOut }),
    jobGroups: tasks.length === 0 ? [] : [{ tasks: Object.fromEntries(tasks), concurrency }],
    startRelay() {
      relay = startRelay(
        // One after the other: they take one connection, and do not wait for each other's rows.
        async () => {
          const due = await readDueWork(database, stepChannels.filter(options.channels.isPaused));
          const stepped = due.steps && (await step());
          const released = due.holds && (await release());
          const closed = due.digests && (await closeDigests());
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
function createAddressReader(
  { suppressions }: Pick<Messaging, 'suppressions'>,
  isAllowedOut: OutboundRule,
): ReadAddresses {
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
