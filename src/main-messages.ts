import { dispatchMessages } from './authentication/messages/dispatch.js';
import { messageTasks } from './authentication/messages/enqueue.js';
import type { MailSender } from './authentication/messages/mail-sender.js';
import { createNoticeSending, type NoticeJob, type ShowNotice } from './authentication/messages/notice-sending.js';
import { createNotices, type Notices, noticeTask } from './authentication/messages/notices.js';
import { readOwnTexts } from './authentication/messages/own-texts.js';
import { createMessages, type MessageJob, type MessageSenders } from './authentication/messages/send.js';
import type { SmsSender } from './authentication/messages/sms-sender.js';
import { createTemplates } from './authentication/messages/templates.js';
import { type Config, ConfigError, mailProvider } from './config.js';
import { type MessageChannel, messageChannels, type NoticeChannel } from './contract/administration.js';
import type { Database } from './database/database.js';
import { type Relay, startRelay } from './database/relay.js';
import { createConsoleMail } from './delivery/mail/console.js';
import { createSmtpMail } from './delivery/mail/smtp.js';
import type { Outbound } from './delivery/outbound.js';
import type { Line } from './delivery/queue.js';
import { createConsoleSms } from './delivery/sms/console.js';
import { createWebhookSms } from './delivery/sms/webhook.js';
import type { SecretKeys } from './lib/secret-keys.js';
import type { Logger } from './log.js';
import { noticeType } from './notifications/push/notice.js';

/** Codes and notices, put together. */
export interface MessageParts {
  /** The channels that have a provider. */
  readonly channels: readonly MessageChannel[];
  /** Those whose codes are no secret: of development. */
  readonly showsCodesOf: readonly MessageChannel[];
  readonly notices: Notices;
  /** The queue's job that makes messages of notices. */
  noticeTasks(show: ShowNotice): Line['tasks'];
  /** What the queue does for each channel. A provider that hangs holds up its own channel only. */
  lines(concurrency: number): Line[];
  /** To be called when a message was written and committed. */
  written(): void;
  /** Starts handing written messages to the queue. */
  startDispatch(): { stop(): Promise<void> };
}

export async function createMessageParts(parts: {
  readonly config: Config;
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly outbound: Outbound;
  /** Whether there is a channel of push. */
  readonly pushes: boolean;
  readonly print: (line: string) => void;
  readonly log: Logger;
}): Promise<MessageParts> {
  const { config, database, keys } = parts;
  const senders: MessageSenders = { sms: createSmsSender(parts), email: createMailSender(parts) };
  const channels = messageChannels.filter((channel) => senders[channel] !== undefined);
  const { texts: own, faults } = await readOwnTexts(config.TEMPLATES_DIR);
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `TEMPLATES_DIR: ${fault}`));
  const templates = createTemplates({ app: config.APP_NAME, own });
  const messages = createMessages({ database, keys, senders, templates });
  const notices = createNotices(config.NOTICES.filter((channel) => isConfigured(channel, parts, channels)));
  let relay: Relay | undefined;
  return {
    channels,
    notices,
    noticeTasks(show) {
      const send = createNoticeSending({ database, keys, templates, channels: notices.channels, show });
      return { [noticeTask]: (job) => send(job as NoticeJob) };
    },
    showsCodesOf: channels.filter((channel) => senders[channel]?.name === 'console'),
    lines: (concurrency) =>
      channels.map((channel) => ({
        tasks: { [messageTasks[channel]]: (job) => messages.send(job as MessageJob) },
        concurrency,
      })),
    written: () => relay?.poke(),
    startDispatch() {
      if (channels.length === 0) return { stop: async () => undefined };
      relay = startRelay(
        () => dispatchMessages(database),
        (error) => parts.log.warn({ err: error }, 'what is to be sent could not be queued'),
      );
      return relay;
    },
  };
}

/** Whether notices can go this way here. */
function isConfigured(
  channel: NoticeChannel,
  { config, pushes }: { readonly config: Config; readonly pushes: boolean },
  channels: readonly MessageChannel[],
): boolean {
  if (channel === 'push') return pushes;
  return channel === 'inbox' ? config.NOTIFICATION_TYPES.includes(noticeType) : channels.includes(channel);
}

function createSmsSender({ config, outbound, print }: Parameters<typeof createMessageParts>[0]): SmsSender | undefined {
  if (config.SMS_PROVIDER === 'none') return undefined;
  if (config.SMS_PROVIDER === 'console') return createConsoleSms(print);
  const { SMS_WEBHOOK_URL: url, SMS_WEBHOOK_SECRET: secret } = config;
  if (url === undefined || secret === undefined) throw new Error('the configuration was not checked');
  return createWebhookSms({ url, secret: secret.reveal(), outbound });
}

function createMailSender({ config, print }: Parameters<typeof createMessageParts>[0]): MailSender | undefined {
  const provider = mailProvider(config);
  if (provider === 'none') return undefined;
  if (provider === 'console') return createConsoleMail(print);
  const { SMTP_URL: target, MAIL_FROM: from } = config;
  if (target === undefined || from === undefined) throw new Error('the configuration was not checked');
  return createSmtpMail({ target: { ...target, password: target.password?.reveal() }, from });
}
