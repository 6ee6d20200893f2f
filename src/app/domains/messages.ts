import { type MessageChannel, messageChannels, type NoticeChannel } from '../../contract/administration.js';
import { type Relay, startRelay } from '../../database/relay.js';
import type { JobGroup } from '../../delivery/queue.js';
import { canonicalIdentity } from '../../identities/identity.js';
import { dispatchMessages } from '../../messages/dispatch.js';
import { messageTasks } from '../../messages/enqueue.js';
import { createNoticeSending, type NoticeJob, type ShowNotice } from '../../messages/notice-sending.js';
import { createNotices, type Notices, noticeTask } from '../../messages/notices.js';
import { createOperatorMails, type OperatorMails } from '../../messages/operator-mails.js';
import { createOutbox, type Outbox } from '../../messages/outbox.js';
import { createMailEvents, type MailEvents } from '../../messages/providers/mail-events.js';
import { createReceipts, type Receipts } from '../../messages/providers/receipts.js';
import { createMessages, type MessageJob, type MessageSenders } from '../../messages/send.js';
import { createSmsAdmission, type SmsAdmission } from '../../messages/sms-admission.js';
import { createSuppressions, type Suppressions } from '../../messages/suppressions.js';
import { createTemplates } from '../../messages/templates.js';
import { applyReceipt, applyReport } from '../../notifications/deliveries/reports.js';
import { noticeType } from '../../notifications/push/notice.js';
import { recordCauses } from '../../webhooks/record.js';
import type { Base } from '../base/base.js';
import { createMailEventReaders, createMailSender, reportingMailProviders } from './mail.js';
import { type ConsoleOutput, createReceiptReaders, createSmsSender } from './sms.js';

/** Codes and notices by SMS, mail, push and inbox. */
export interface Messaging {
  /** The channels that have a provider. */
  readonly channels: readonly MessageChannel[];
  readonly notices: Notices;
  readonly operatorMails: OperatorMails;
  readonly smsAdmission: SmsAdmission;
  readonly outbox: Outbox;
  readonly receipts: Receipts;
  readonly suppressions: Suppressions;
  readonly mailEvents: MailEvents;
  /** The job of the queue that creates the messages of a notice. */
  noticeTasks(show: ShowNotice): JobGroup['tasks'];
  /** The jobs of each channel. A provider that hangs blocks its own channel only. */
  jobGroups(concurrency: number): JobGroup[];
  /** Call it after a message was written and committed. */
  onMessageWritten(): void;
  /** Starts moving written messages to the queue. */
  startDispatch(): { stop(): Promise<void> };
}

/** Creates the senders, texts and queues of messages. */
export async function createMessaging(
  { config, log, outbound, onHealth, texts, database, keys, consoleUrl, statistics: { counters } }: Base,
  options: {
    /** Whether a push channel is configured. */
    readonly hasPush: boolean;
    readonly consoleOutput: ConsoleOutput;
    /** Called after a provider has reported a hard bounce or a complaint. */
    readonly onBadReport: () => void;
  },
): Promise<Messaging> {
  const { consoleOutput } = options;
  const senders: MessageSenders = {
    sms: await createSmsSender(config, outbound, consoleOutput, onHealth),
    email: await createMailSender({ config, brand: texts.brand, outbound, consoleOutput }, onHealth),
  };
  const channels = messageChannels.filter((channel) => senders[channel] !== undefined);
  const templates = createTemplates({ brand: texts.brand, own: texts.texts });
  const smsAdmission = createSmsAdmission(database, config.SMS_COUNTRIES);
  const suppressions = createSuppressions({ database, keys, announce: recordCauses });
  const reporting = reportingMailProviders(config);
  const mailEvents = createMailEvents({
    database,
    keys,
    counters,
    suppressions,
    onBadReport: options.onBadReport,
    onStepReport: (tx, report) => applyReport(tx, report, counters),
    readers: await createMailEventReaders(config, outbound),
    canonical: (address) => canonicalIdentity('email', address)?.canonical,
  });
  const messages = createMessages({
    database,
    keys,
    senders,
    templates,
    counters,
    smsAdmission,
    suppressions,
    mailEvents,
    reporting,
  });
  const isConfigured = (channel: NoticeChannel) => {
    if (channel === 'push') return options.hasPush;
    return channel === 'inbox' ? config.NOTIFICATION_TYPES.includes(noticeType) : channels.includes(channel);
  };
  const notices = createNotices(config.NOTICES.filter(isConfigured));
  // The codes of the console providers are not secret.
  const consoleChannels = channels.filter((channel) => senders[channel]?.name === 'console');
  const showsCodes = (channel: MessageChannel) =>
    consoleChannels.includes(channel) && consoleOutput.refusal() === undefined;
  let relay: Relay | undefined;
  return {
    channels,
    notices,
    smsAdmission,
    suppressions,
    mailEvents,
    operatorMails: createOperatorMails({ isConfigured: senders.email !== undefined, consoleUrl }),
    receipts: createReceipts({
      database,
      counters,
      readers: await createReceiptReaders(config),
      onStepReceipt: (tx, receipt) => applyReceipt(tx, receipt, counters),
    }),
    outbox: createOutbox({ database, keys, showsCodes }),
    noticeTasks(show) {
      const send = createNoticeSending({ database, keys, templates, channels: notices.channels, show });
      return { [noticeTask]: (job) => send(job as NoticeJob) };
    },
    jobGroups: (concurrency) =>
      channels.map((channel) => ({
        tasks: { [messageTasks[channel]]: (job) => messages.send(job as MessageJob) },
        concurrency,
      })),
    onMessageWritten: () => relay?.notify(),
    startDispatch() {
      if (channels.length === 0) return { stop: async () => undefined };
      relay = startRelay(
        () => dispatchMessages(database),
        (error) => log.warn({ err: error }, 'messages could not be queued'),
      );
      return relay;
    },
  };
}
