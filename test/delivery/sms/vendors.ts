import { jwtVerify } from 'jose';
import { onTestFinished } from 'vitest';
import { createOutbound, type Outbound, type OutboundOptions } from '../../../src/delivery/outbound.js';
import { ProviderError } from '../../../src/delivery/providers/provider-error.js';
import { createReceiptUrl } from '../../../src/delivery/sms/receipt-url.js';
import type { SenderIds } from '../../../src/delivery/sms/sender-ids.js';
import { createSns } from '../../../src/delivery/sms/sns.js';
import { createTwilio } from '../../../src/delivery/sms/twilio.js';
import { createVonage } from '../../../src/delivery/sms/vonage.js';
import type { SmsMessage, SmsSender } from '../../../src/messages/sms-sender.js';
import { rsaKeys } from '../../support/rsa-keys.js';
import { isSignedByAws } from '../aws-signature.js';
import { type ReceivedRequest, startHttp } from '../local-server.js';

export const message: SmsMessage = {
  id: '582a5abb-1335-4794-4855-11e067b8c55e',
  kind: 'sms.code',
  to: '+12025550123',
  text: 'Your code is 482913. Grüße & more',
  code: '482913',
  authenticationId: '0b9d5d9c-8f3e-4a53-9b57-0a4f0d2f6f11',
  expiresAt: '2017-10-19T17:02:03.181879Z',
};

/** What a fake answers. Undefined: it accepts the message. `hang`: it never answers. */
export type Answer =
  | { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }
  | 'hang'
  | undefined;

/** A fake of a vendor's API. */
export interface Vendor {
  readonly name: 'twilio' | 'vonage' | 'sns';
  /** Sends through the vendor. */
  sender(options?: Partial<OutboundOptions> & { readonly senders?: SenderIds }): SmsSender;
  /** The next answers, then acceptance. */
  answer(...answers: Answer[]): void;
  /** The accepted and refused requests. */
  readonly received: ReceivedRequest[];
  /** Requests that do not follow the documentation: with wrong credentials, for example. */
  readonly faults: string[];
  /** The secret that no error may contain. */
  readonly secret: string;
  /** The settings of a service that uses the fake. */
  readonly env: Readonly<Record<string, string>>;
}

const accountSid = `AC${'0123456789abcdef'.repeat(2)}`;
const authToken = 'twilio-auth-token-0123456789';
const accessKeyId = 'AKIAEXAMPLE0EXAMPLE0';
const secretAccessKey = 'sns/secret/access/key/0123456789';
const applicationId = '78d335fa-323d-4114-9c3d-d6f0d48968cf';
const keys = rsaKeys();
const privateKeyText = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const receiptUrl = createReceiptUrl('https://login.example.com/auth/', 'any');
const callback = `https://login.example.com/auth/v1/message-receipts/any?message=${message.id}`;
const fallback: SenderIds = { fallback: '+15557654321', rules: [] };

export const startTwilio = () =>
  startVendor({
    name: 'twilio',
    secret: authToken,
    env: { TWILIO_ACCOUNT_SID: accountSid, TWILIO_AUTH_TOKEN: authToken },
    accepted: { status: 201, body: JSON.stringify({ sid: 'SM123', status: 'queued', error_code: null }) },
    create: (url, senders, outbound) => createTwilio({ accountSid, authToken, url, senders, receiptUrl, outbound }),
    async check({ method, url, headers, body }) {
      const form = new URLSearchParams(body);
      if (method !== 'POST' || url !== `/2010-04-01/Accounts/${accountSid}/Messages.json`) return 'the route';
      if (headers.authorization !== `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`)
        return 'the credentials';
      if (headers['content-type'] !== 'application/x-www-form-urlencoded') return 'the content type';
      if (form.get('StatusCallback') !== callback) return 'the callback';
      if (!form.has('From') && !form.has('MessagingServiceSid')) return 'the sender';
      return form.get('To') === message.to && form.get('Body') === message.text ? undefined : 'the message';
    },
  });

export const startVonage = () =>
  startVendor({
    name: 'vonage',
    secret: privateKeyText,
    env: { VONAGE_APPLICATION_ID: applicationId, VONAGE_PRIVATE_KEY: privateKeyText },
    accepted: { status: 202, body: JSON.stringify({ message_uuid: 'aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab' }) },
    create: (url, senders, outbound) =>
      createVonage({ applicationId, privateKey: keys.privateKey, url, senders, receiptUrl, outbound }),
    async check({ method, url, headers, body }) {
      if (method !== 'POST' || url !== '/v1/messages') return 'the route';
      const token = headers.authorization?.replace(/^Bearer /, '') ?? '';
      const verified = await jwtVerify(token, keys.publicKey, { algorithms: ['RS256'], maxTokenAge: '10m' }).catch(
        () => undefined,
      );
      if (verified?.payload.application_id !== applicationId || verified.payload.jti === undefined)
        return 'the credentials';
      const { message_type, channel, to, from, text, client_ref, webhook_url, webhook_version } = JSON.parse(body);
      if (webhook_url !== callback || webhook_version !== 'v1') return 'the callback';
      if (message_type !== 'text' || channel !== 'sms' || client_ref !== message.id) return 'the members';
      if (typeof from !== 'string' || from === '' || from.startsWith('+')) return 'the sender';
      return to === message.to.slice(1) && text === message.text ? undefined : 'the message';
    },
  });

export const startSns = () =>
  startVendor({
    name: 'sns',
    secret: secretAccessKey,
    env: { SNS_REGION: 'eu-west-1', SNS_ACCESS_KEY_ID: accessKeyId, SNS_SECRET_ACCESS_KEY: secretAccessKey },
    accepted: {
      status: 200,
      body: '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>567910cd-659e-55d4-8ccb-5aaf14679dc0</MessageId></PublishResult><ResponseMetadata><RequestId>d74b8436</RequestId></ResponseMetadata></PublishResponse>',
    },
    create: (url, senders, outbound) =>
      createSns({ region: 'eu-west-1', accessKeyId, secretAccessKey, url, senders, outbound }),
    async check(request) {
      const form = new URLSearchParams(request.body);
      if (request.method !== 'POST' || request.url !== '/') return 'the route';
      if (!isSignedByAws(request, { accessKeyId, secretAccessKey, service: 'sns' })) return 'the signature';
      if (form.get('Action') !== 'Publish' || form.get('Version') !== '2010-03-31') return 'the action';
      return form.get('PhoneNumber') === message.to && form.get('Message') === message.text ? undefined : 'the message';
    },
  });

interface VendorOptions extends Pick<Vendor, 'name' | 'secret'> {
  readonly env: Record<string, string>;
  readonly accepted: Exclude<Answer, 'hang' | undefined>;
  create(url: string, senders: SenderIds, outbound: Outbound): SmsSender;
  /** Returns what does not follow the vendor's documentation. */
  check(request: ReceivedRequest): Promise<string | undefined>;
}

async function startVendor({ name, secret, env, accepted, create, check }: VendorOptions): Promise<Vendor> {
  const answers: Answer[] = [];
  const faults: string[] = [];
  const server = await startHttp(async (_request, response) => {
    const request = server.received.at(-1);
    const fault = request === undefined ? 'nothing' : await check(request);
    if (fault !== undefined) faults.push(fault);
    const answer = answers.shift() ?? accepted;
    if (answer === 'hang') return;
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body);
  });
  return {
    name,
    secret,
    env: { ...env, [`${name.toUpperCase()}_URL`]: server.url, ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
    received: server.received,
    faults,
    answer: (...next) => void answers.push(...next),
    sender({ senders = fallback, ...options } = {}) {
      const outbound = createOutbound({ allowPrivateNetworkTargets: true, ...options });
      onTestFinished(() => outbound.close());
      return create(server.url, senders, outbound);
    },
  };
}

/** Returns the error of a refused message, and checks that it contains nothing of the message and no secret. */
export async function refusalOf(vendor: Vendor, sending: Promise<unknown>): Promise<ProviderError> {
  const error = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderError)) throw new Error(`no ProviderError: ${String(error)}`);
  const logged = `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
  for (const forbidden of ['482913', '2025550123', 'Grüße', vendor.secret, 'secret text']) {
    if (logged.includes(forbidden)) throw new Error(`the error holds ${forbidden}`);
  }
  return error;
}
