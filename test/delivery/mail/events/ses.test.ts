import { createSign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createSesEvents } from '../../../../src/delivery/mail/events/ses.js';
import { createOutbound } from '../../../../src/delivery/outbound.js';
import { startHttp } from '../../local-server.js';

const pem = readFileSync(new URL('./sns.pem', import.meta.url), 'utf8');
const topicArn = 'arn:aws:sns:eu-west-1:123456789012:mail-events';

/** Amazon SNS: the certificate of its key, and the confirmations that it gets. */
async function startSns() {
  const server = await startHttp(({ url }, response) => {
    if (url === '/SimpleNotificationService-own.pem') response.end(pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')));
    else if (url === '/SimpleNotificationService-huge.pem') response.end('x'.repeat(100_000));
    else if (url === '/SimpleNotificationService-text.pem') response.end('no certificate');
    else if (url === '/SimpleNotificationService-failing.pem') response.writeHead(500).end();
    else if (url === '/SimpleNotificationService-lost.pem') response.destroy();
    else if (url?.startsWith('/?Action=ConfirmSubscription')) response.end('<ok/>');
    else response.writeHead(302, { location: '/SimpleNotificationService-own.pem' }).end();
  });
  const outbound = createOutbound({ allowPrivateNetworkTargets: true });
  onTestFinished(() => outbound.close());
  const reader = createSesEvents({ topicArn, outbound, origin: server.url });
  const sign = (members: Record<string, string>, { version = '2', certificate = 'own' } = {}) => {
    const message: Record<string, string> = {
      ...{ Type: 'Notification', MessageId: 'event-1', TopicArn: topicArn, Message: '{}' },
      Timestamp: new Date().toISOString(),
      ...members,
    };
    const names = Object.keys(message).sort();
    const text = names.map((name) => `${name}\n${message[name]}\n`).join('');
    const Signature = createSign(version === '1' ? 'sha1' : 'sha256')
      .update(text)
      .sign(pem, 'base64');
    const SigningCertURL = certificate.startsWith('http')
      ? certificate
      : `${server.url}/SimpleNotificationService-${certificate}.pem`;
    return { ...message, SignatureVersion: version, Signature, SigningCertURL };
  };
  const read = (message: object) => reader.read({ headers: {}, body: JSON.stringify(message) });
  return { sign, read, server };
}

const bounce = (bounceType: string) =>
  JSON.stringify({
    ...{ notificationType: 'Bounce', mail: { messageId: 'mail-1' } },
    bounce: { bounceType, bouncedRecipients: [{ emailAddress: 'ada@example.com' }] },
  });

it('a notification of Amazon SES is read with either version of the signature, and the certificate fetched once', async () => {
  const { sign, read, server } = await startSns();
  const expected = [{ reference: 'mail-1', address: 'ada@example.com', outcome: 'hard_bounce' }];
  for (const version of ['2', '1', '2']) {
    expect(await read(sign({ Message: bounce('Permanent'), Subject: 'Amazon SES' }, { version }))).toEqual(expected);
  }
  expect(server.received.map(({ url }) => url)).toEqual(['/SimpleNotificationService-own.pem']);
});

it('a notification of Amazon SES is refused unless SNS has signed it now for the one topic', async () => {
  const { sign, read } = await startSns();
  const good = sign({ Message: bounce('Permanent') });
  const minutesAgo = (count: number) => new Date(Date.now() - count * 60_000).toISOString();
  for (const message of [
    { ...good, Message: bounce('Transient') },
    { ...good, Signature: 'AAAA' },
    { ...good, Signature: undefined },
    { ...good, SignatureVersion: '3' },
    { ...good, Type: 'toString' },
    { ...good, Subject: 'added' },
    { ...good, MessageId: { toString: 'x' } },
    sign({ TopicArn: `${topicArn}-of-another` }),
    sign({ Timestamp: minutesAgo(6) }),
    sign({ Timestamp: minutesAgo(-6) }),
    sign({ Timestamp: 'now' }),
  ]) {
    expect([message, await read(message)]).toEqual([message, undefined]);
  }
  expect(await read(sign({ Message: bounce('Permanent'), Timestamp: minutesAgo(4) }))).toHaveLength(1);
  expect(await read(good)).toHaveLength(1);
});

it('messages that come together wait for their certificate together', async () => {
  const { sign, read, server } = await startSns();
  const message = sign({ Message: bounce('Permanent') });
  const events = await Promise.all(Array.from({ length: 5 }, () => read(message)));
  expect(events.map((each) => each?.length)).toEqual([1, 1, 1, 1, 1]);
  expect(server.received).toHaveLength(1);
});

it('a message whose certificate cannot be fetched now is not refused for ever, because SNS repeats nothing after a 401', async () => {
  const { sign, read, server } = await startSns();
  for (const certificate of ['failing', 'lost']) {
    const message = sign({ Message: bounce('Permanent') }, { certificate });
    await expect(read(message)).rejects.toMatchObject({ code: 'overloaded' });
  }
  // A URL that a stranger names is fetched meanwhile: the others are put off, and not fetched too.
  const [first, second] = await Promise.allSettled(
    ['text', 'own'].map((certificate) => read(sign({ Message: bounce('Permanent') }, { certificate }))),
  );
  expect(first).toEqual({ status: 'fulfilled', value: undefined });
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'overloaded' } });
  expect(server.received.map(({ url }) => url)).not.toContain('/SimpleNotificationService-own.pem');
  expect(await read(sign({ Message: bounce('Permanent') }))).toHaveLength(1);
});

it('the certificate comes only from the host of SNS, by its usual path, without a redirect, and is small', async () => {
  const { sign, read, server } = await startSns();
  const evil = await startHttp((_request, response) => response.end(pem.slice(pem.indexOf('-----BEGIN CERTIFICATE'))));
  for (const certificate of [
    `${evil.url}/SimpleNotificationService-own.pem`,
    `${server.url}@127.0.0.1:1/SimpleNotificationService-own.pem`,
    `${server.url}/../SimpleNotificationService-own.pem?x`,
    `${server.url}/other.pem`,
    'redirected',
    'huge',
    'text',
  ]) {
    expect([certificate, await read(sign({ Message: bounce('Permanent') }, { certificate }))]).toEqual([
      certificate,
      undefined,
    ]);
  }
  expect(evil.received).toEqual([]);
  expect(server.received.map(({ url }) => url)).toEqual(
    ['redirected', 'huge', 'text'].map((name) => `/SimpleNotificationService-${name}.pem`),
  );
});

it('the subscription of the topic is confirmed only at the host of SNS', async () => {
  const { sign, read, server } = await startSns();
  const evil = await startHttp((_request, response) => response.end());
  const confirmation = (url: string) =>
    sign({ Type: 'SubscriptionConfirmation', Token: 'token', SubscribeURL: url, Message: 'Visit the URL' });
  expect(await read(confirmation(`${server.url}/?Action=ConfirmSubscription&Token=token`))).toEqual([]);
  expect(server.received.at(-1)?.url).toBe('/?Action=ConfirmSubscription&Token=token');
  expect(await read(confirmation(`${evil.url}/?Action=ConfirmSubscription`))).toBeUndefined();
  expect(await read({ ...confirmation(`${server.url}/?Action=ConfirmSubscription`), Token: 'other' })).toBeUndefined();
  expect([evil.received.length, server.received.length]).toEqual([0, 2]);
});

it.each([
  [{ notificationType: 'Delivery', delivery: { recipients: ['ada@example.com'] } }, ['delivered']],
  [{ eventType: 'Delivery', delivery: { recipients: ['ada@example.com', 7] } }, ['delivered']],
  [
    { eventType: 'Bounce', bounce: { bounceType: 'Transient', bouncedRecipients: [{ emailAddress: 'a@b' }] } },
    ['soft_bounce'],
  ],
  [
    { eventType: 'Bounce', bounce: { bounceType: 'Undetermined', bouncedRecipients: [{ emailAddress: 'a@b' }] } },
    ['soft_bounce'],
  ],
  [{ eventType: 'Complaint', complaint: { complainedRecipients: [{ emailAddress: 'a@b' }] } }, ['complaint']],
  [
    {
      eventType: 'Complaint',
      complaint: { complaintFeedbackType: 'not-spam', complainedRecipients: [{ emailAddress: 'a@b' }] },
    },
    [],
  ],
  [{ eventType: 'Bounce', bounce: [] }, []],
  [{ eventType: 'Open' }, []],
])('the notification %j of Amazon SES means %j', async (notification, outcomes) => {
  const { sign, read } = await startSns();
  const events = await read(sign({ Message: JSON.stringify({ mail: { messageId: 'm' }, ...notification }) }));
  expect(events?.map(({ outcome }) => outcome)).toEqual(outcomes);
});
