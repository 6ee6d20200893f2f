import type { Config } from '../../config/config.js';
import { mailProviders } from '../../config/contradictions.js';
import { type MailProviderName, sesUrl } from '../../config/mail-settings.js';
import type { Secret } from '../../config/parsers.js';
import { createConsoleMail } from '../../delivery/console-messages.js';
import type { MailOrigin } from '../../delivery/mail/mail-content.js';
import type { Outbound } from '../../delivery/outbound.js';
import { createFailover } from '../../delivery/providers/failover.js';
import type { OnHealth } from '../../delivery/providers/provider-health.js';
import { logoId, type MailBrand } from '../../messages/mail-html.js';
import type { MailSender } from '../../messages/mail-sender.js';
import type { MailEventReader } from '../../messages/providers/mail-events.js';
import type { Lifecycle } from '../base/lifecycle.js';
import { mailHealthName } from '../base/providers.js';
import { type ConsoleOutput, required } from './sms.js';

interface MailParts {
  readonly config: Config;
  readonly brand: MailBrand;
  readonly outbound: Outbound;
  readonly consoleOutput: ConsoleOutput;
}

/** The configured providers of mail that report what becomes of their mails. */
export function reportingMailProviders(config: Config): ReadonlySet<string> {
  const settings: Record<MailProviderName, unknown> = {
    console: undefined,
    smtp: config.POSTMARK_WEBHOOK_SECRET,
    ses: config.SES_TOPIC_ARN,
    resend: config.RESEND_WEBHOOK_SECRET,
    webhook: config.MAIL_WEBHOOK_SECRET,
  };
  return new Set(mailProviders(config).filter((name) => settings[name] !== undefined));
}

/** How many connections to the server of SMTP_URL an instance keeps open for the steps of notifications. */
export const pooledConnections = 8;

/**
 * Creates the sender of mails. Undefined without a provider. It loads only the configured providers.
 * @param lifecycle if it is present, mails to a server of SMTP share connections, which end with the service. For mails that
 *   nobody waits for: codes have connections of their own
 */
export async function createMailSender(
  parts: MailParts,
  onHealth: OnHealth,
  lifecycle?: Lifecycle,
): Promise<MailSender | undefined> {
  const names = mailProviders(parts.config);
  if (names.length === 0) return undefined;
  const providers: MailSender[] = [];
  for (const name of names) providers.push(await createMailProvider(name, parts, lifecycle));
  return createFailover({
    providers,
    onHealth: ({ provider, error }) => onHealth({ provider: mailHealthName(provider), error }),
  });
}

/** @throws Error for a provider or settings that the configuration should have refused */
async function createMailProvider(
  name: MailProviderName,
  { config, brand: { logo }, outbound, consoleOutput }: MailParts,
  lifecycle: Lifecycle | undefined,
): Promise<MailSender> {
  if (name === 'console') return createConsoleMail(consoleOutput.print, consoleOutput.refusal);
  const origin: MailOrigin = {
    from: required(config.MAIL_FROM),
    logo: logo && { png: logo.png, contentId: logoId },
  };
  switch (name) {
    case 'smtp': {
      const { createPooledSmtpMail, createSmtpMail } = await import('../../delivery/mail/smtp.js');
      const target = required(config.SMTP_URL);
      const isPostmark = config.POSTMARK_WEBHOOK_SECRET !== undefined;
      const options = { ...origin, isPostmark, target: { ...target, password: target.password?.reveal() } };
      if (lifecycle === undefined) return createSmtpMail(options);
      return lifecycle.add(createPooledSmtpMail({ ...options, connections: pooledConnections }), (mail) =>
        mail.close(),
      );
    }
    case 'ses': {
      const { createSes } = await import('../../delivery/mail/ses.js');
      return createSes({
        ...origin,
        region: required(config.SES_REGION),
        accessKeyId: required(config.SES_ACCESS_KEY_ID),
        secretAccessKey: required(config.SES_SECRET_ACCESS_KEY).reveal(),
        url: sesUrl(config),
        configurationSet: config.SES_CONFIGURATION_SET,
        outbound,
      });
    }
    case 'resend': {
      const { createResend } = await import('../../delivery/mail/resend.js');
      return createResend({
        ...origin,
        apiKey: required(config.RESEND_API_KEY).reveal(),
        url: config.RESEND_URL,
        outbound,
      });
    }
    case 'webhook': {
      const { createWebhookMail } = await import('../../delivery/mail/webhook.js');
      return createWebhookMail({
        ...origin,
        url: required(config.MAIL_WEBHOOK_URL),
        secrets: required(config.MAIL_WEBHOOK_SECRET).map((secret) => secret.reveal()),
        outbound,
      });
    }
    default:
      throw new Error(`unknown MAIL_PROVIDER ${String(name satisfies never)}`);
  }
}

/** Creates the readers of the events of the providers that have a secret. */
export async function createMailEventReaders(config: Config, outbound: Outbound): Promise<MailEventReader[]> {
  const readers: MailEventReader[] = [];
  const { RESEND_WEBHOOK_SECRET, MAIL_WEBHOOK_SECRET, POSTMARK_WEBHOOK_SECRET, SES_TOPIC_ARN } = config;
  if (RESEND_WEBHOOK_SECRET !== undefined || MAIL_WEBHOOK_SECRET !== undefined) {
    const { createGatewayEvents, createResendEvents } = await import('../../delivery/mail/events/signed.js');
    if (RESEND_WEBHOOK_SECRET !== undefined) readers.push(createResendEvents(revealed(RESEND_WEBHOOK_SECRET)));
    if (MAIL_WEBHOOK_SECRET !== undefined) readers.push(createGatewayEvents(revealed(MAIL_WEBHOOK_SECRET)));
  }
  if (POSTMARK_WEBHOOK_SECRET !== undefined) {
    const { createPostmarkEvents } = await import('../../delivery/mail/events/postmark.js');
    readers.push(createPostmarkEvents(revealed(POSTMARK_WEBHOOK_SECRET)));
  }
  if (SES_TOPIC_ARN !== undefined) {
    const { createSesEvents } = await import('../../delivery/mail/events/ses.js');
    readers.push(createSesEvents({ topicArn: SES_TOPIC_ARN, outbound }));
  }
  return readers;
}

const revealed = (secrets: readonly Secret[]) => secrets.map((secret) => secret.reveal());
