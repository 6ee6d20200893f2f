import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import type { MailOrigin } from '../../../src/delivery/mail/mail-content.js';
import { createResend } from '../../../src/delivery/mail/resend.js';
import { createSes } from '../../../src/delivery/mail/ses.js';
import { createWebhookMail } from '../../../src/delivery/mail/webhook.js';
import { createOutbound, type Outbound, type OutboundOptions } from '../../../src/delivery/outbound.js';
import { ProviderError } from '../../../src/delivery/providers/provider-error.js';
import type { MailMessage, MailSender } from '../../../src/messages/mail-sender.js';
import { isSignedByAws } from '../aws-signature.js';
import { type ReceivedRequest, startHttp } from '../local-server.js';

export const message: MailMessage = {
  id: '582a5abb-1335-4794-4855-11e067b8c55e',
  kind: 'email.code',
  to: 'ada@example.com',
  subject: '482913 es su código',
  text: 'Su código es 482913.\n\nGrüße',
  html: '<!doctype html><title>Código</title><p>Su código es 482913.</p><p>Grüße</p>',
  code: '482913',
  authenticationId: '0b9d5d9c-8f3e-4a53-9b57-0a4f0d2f6f11',
  expiresAt: '2017-10-19T17:02:03.181879Z',
};

const origin: MailOrigin = { from: { name: 'Café "Ltd"', address: 'no-reply@example.org' } };
export const messageId = `<${message.id}@example.org>`;

/** What a fake answers. Undefined: it accepts the mail. `hang`: it never answers. `reset`: it ends the connection. */
export type Answer =
  | { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }
  | 'hang'
  | 'reset'
  | undefined;

/** A fake of the API of a provider of mail. */
export interface MailVendor {
  readonly name: string;
  /** Sends through the fake. */
  sender(options?: Partial<OutboundOptions & MailOrigin>): MailSender;
  /** The next answers, then acceptance. */
  answer(...answers: Answer[]): void;
  readonly received: ReceivedRequest[];
  /** Requests that do not follow the documentation: with wrong credentials, for example. */
  readonly faults: string[];
  /** The secret that no error may contain. */
  readonly secret: string;
  /** The id that it gives to a mail. */
  readonly reference: string;
  /** The settings of a service that uses the fake. */
  readonly env: Readonly<Record<string, string>>;
}

const accessKeyId = 'AKIAEXAMPLE0EXAMPLE0';
const secretAccessKey = 'ses/secret/access/key/0123456789';
const apiKey = 're_0123456789_secretofresend';
const webhookSecret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
const otherWebhookSecret = `whsec_${Buffer.from('a former one of thirty-two bytes').toString('base64')}`;

export const startResend = () =>
  startVendor({
    name: 'resend',
    secret: apiKey,
    reference: '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794',
    env: (url) => ({ RESEND_URL: url, RESEND_API_KEY: apiKey }),
    accepted: { status: 200, body: '{"id":"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"}' },
    create: (url, mailOrigin, outbound) => createResend({ ...mailOrigin, apiKey, url, outbound }),
    check({ method, url, headers, body }) {
      if (method !== 'POST' || url !== '/emails') return 'the route';
      if (headers.authorization !== `Bearer ${apiKey}` || headers['user-agent'] === undefined) return 'the credentials';
      const { to, subject, text, html, headers: own } = JSON.parse(body);
      if (!/^[0-9a-f-]{36}$/.test(String(headers['idempotency-key']))) return 'the key';
      if (own['Message-ID'] !== `<${String(headers['idempotency-key'])}@example.org>`) return 'the message id';
      if (own['Auto-Submitted'] !== 'auto-generated') return 'the headers';
      return Array.isArray(to) && to.length === 1 && subject && text && html ? undefined : 'the message';
    },
  });

export const startSes = () =>
  startVendor({
    name: 'ses',
    secret: secretAccessKey,
    reference: '0102018f-ses-000000',
    env: (url) => ({
      ...{ SES_URL: url, SES_REGION: 'eu-west-1' },
      ...{ SES_ACCESS_KEY_ID: accessKeyId, SES_SECRET_ACCESS_KEY: secretAccessKey },
    }),
    accepted: { status: 200, body: '{"MessageId":"0102018f-ses-000000"}' },
    create: (url, mailOrigin, outbound) =>
      createSes({
        ...{ ...mailOrigin, region: 'eu-west-1', accessKeyId, secretAccessKey, url, outbound },
        configurationSet: 'postern',
      }),
    check(request) {
      if (request.method !== 'POST' || request.url !== '/v2/email/outbound-emails') return 'the route';
      if (!isSignedByAws(request, { accessKeyId, secretAccessKey, service: 'ses' })) return 'the signature';
      const { Destination, Content, EmailTags } = JSON.parse(request.body);
      if (Destination.ToAddresses.length !== 1 || EmailTags[0]?.Name !== 'postern-id') return 'the members';
      const raw = Buffer.from(Content.Raw.Data, 'base64').toString();
      return /^Message-ID: <[0-9a-f-]{36}@example\.org>\r$/m.test(raw) ? undefined : 'the message id';
    },
  });

export const startGateway = () =>
  startVendor({
    name: 'webhook',
    secret: webhookSecret,
    reference: 'gateway-1',
    env: (url) => ({ MAIL_WEBHOOK_URL: `${url}/mails`, MAIL_WEBHOOK_SECRET: webhookSecret }),
    accepted: { status: 202, body: '{"id":"gateway-1"}' },
    create: (url, mailOrigin, outbound) =>
      createWebhookMail({
        ...{ ...mailOrigin, outbound },
        url: `${url}/mails`,
        secrets: [webhookSecret, otherWebhookSecret],
      }),
    check({ method, url, headers, body }) {
      if (method !== 'POST' || url !== '/mails') return 'the route';
      for (const secret of [
        webhookSecret,
        ...(String(headers['webhook-signature']).includes(' ') ? [otherWebhookSecret] : []),
      ]) {
        new Webhook(secret).verify(body, {
          'webhook-id': String(headers['webhook-id']),
          'webhook-timestamp': String(headers['webhook-timestamp']),
          'webhook-signature': String(headers['webhook-signature']),
        });
      }
      const { id, headers: own } = JSON.parse(body);
      if (id !== headers['webhook-id']) return 'the id';
      return own['Message-ID'] === `<${id}@example.org>` ? undefined : 'the message id';
    },
  });

interface VendorOptions extends Pick<MailVendor, 'name' | 'secret' | 'reference'> {
  readonly env: (url: string) => Record<string, string>;
  readonly accepted: { readonly status: number; readonly body: string };
  create(url: string, origin: MailOrigin, outbound: Outbound): MailSender;
  /** Returns what does not follow the documentation. It may throw. */
  check(request: ReceivedRequest): string | undefined;
}

async function startVendor({ name, secret, reference, env, accepted, create, check }: VendorOptions) {
  const answers: Answer[] = [];
  const faults: string[] = [];
  const acceptance: Answer = accepted;
  const server = await startHttp((request, response) => {
    const last = server.received.at(-1);
    try {
      const fault = last === undefined ? 'nothing' : check(last);
      if (fault !== undefined) faults.push(fault);
    } catch (error) {
      faults.push(String(error));
    }
    const answer = answers.shift() ?? acceptance;
    if (answer === 'hang') return;
    if (answer === 'reset') request.socket.resetAndDestroy();
    else response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body);
  });
  const vendor: MailVendor = {
    ...{ name, secret, reference, faults, received: server.received },
    env: {
      ...env(server.url),
      ...{ MAIL_FROM: 'no-reply@example.org', ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
    },
    answer: (...next) => void answers.push(...next),
    sender({ from = origin.from, logo, ...options } = {}) {
      const outbound = createOutbound({ allowPrivateNetworkTargets: true, ...options });
      onTestFinished(() => outbound.close());
      return create(server.url, { from, logo }, outbound);
    },
  };
  return vendor;
}

/** Returns the error of a refused mail, and checks that it contains nothing of the mail and no secret. */
export async function refusalOf(
  { secret }: Pick<MailVendor, 'secret'>,
  sending: Promise<unknown>,
): Promise<ProviderError> {
  const error = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderError)) throw new Error(`no ProviderError: ${String(error)}`);
  const logged = `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
  for (const forbidden of ['482913', 'ada@example', 'Grüße', secret, 'secret text']) {
    if (logged.includes(forbidden)) throw new Error(`the error holds ${forbidden}`);
  }
  return error;
}
