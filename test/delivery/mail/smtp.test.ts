import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPooledSmtpMail, createSmtpMail, type SmtpMailOptions } from '../../../src/delivery/mail/smtp.js';
import { ProviderError } from '../../../src/delivery/providers/provider-error.js';
import { parseSmtpUrl } from '../../../src/lib/urls.js';
import type { MailMessage } from '../../../src/messages/mail-sender.js';
import { eventually } from '../../support/eventually.js';
import {
  type MailServer,
  type MailServerOptions,
  selfSigned,
  startMailServer,
  startRudeServer,
} from '../../support/mail-server.js';

const message: MailMessage = {
  id: '582a5abb-1335-4794-4855-11e067b8c55e',
  kind: 'email.code',
  to: 'ada@example.com',
  subject: '482913 es su código',
  text: 'Su código es 482913.\n\nGrüße',
  html: '<!doctype html><title>Código</title><p>Su código es 482913.</p><p>Grüße</p>',
  code: '482913',
  authenticationId: null,
  expiresAt: '2017-10-19T17:02:03.181879Z',
};
const login = { user: 'relay', password: 'p@ss:wörd' };
const credentials = `${login.user}:${encodeURIComponent(login.password)}@`;

async function newServer(options?: MailServerOptions): Promise<MailServer> {
  const server = await startMailServer(options);
  onTestFinished(() => server.close());
  return server;
}

async function newRudeServer(...parameters: Parameters<typeof startRudeServer>) {
  const server = await startRudeServer(...parameters);
  onTestFinished(() => server.close());
  return server;
}

/** A server that accepts everything, except for the commands with another answer. `.` is the end of the content. */
async function newTalk(answers: Readonly<Record<string, string | 'end' | 'silence'>>) {
  return newRudeServer((socket) => {
    let isContent = false;
    socket.write('220 ready\r\n');
    createInterface({ input: socket }).on('line', (line) => {
      if (isContent && line !== '.') return;
      isContent = false;
      const command = Object.keys(answers).find((start) => line.startsWith(start));
      const answer = command === undefined ? (line === 'DATA' ? '354 go on' : '250 ok') : answers[command];
      if (answer === 'silence') return;
      if (answer === 'end') return void socket.destroy();
      isContent = answer?.startsWith('354') === true;
      socket.write(`${answer}\r\n`);
    });
  });
}

function sender(url: string, options: Partial<SmtpMailOptions> = {}) {
  const target = parseSmtpUrl(url);
  if (target === undefined) return expect.unreachable(`${url} is no SMTP_URL`);
  return createSmtpMail({ target, from: { name: 'Café, Ltd', address: 'no-reply@example.org' }, ...options });
}

/**
 * Returns a failure. Checks that a log of it would contain nothing of the mail, the password or the answer of the server
 * (`refused: …`).
 */
async function failureOf(
  sending: Promise<unknown>,
): Promise<{ text: string; permanent: boolean; failure: string; isUnknownMailbox: boolean }> {
  const error = await sending.then(
    () => expect.unreachable('the mail was sent'),
    (reason: unknown) => (reason instanceof ProviderError ? reason : expect.unreachable(String(reason))),
  );
  const logged = `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
  expect(logged).not.toMatch(/482913|código|Grüße|ada@example|wörd|refused:/);
  const { reason: text, permanent, failure, isUnknownMailbox } = error;
  return { text, permanent, failure, isUnknownMailbox };
}

describe('mail by SMTP', () => {
  it('has one text, plain and as HTML, one recipient, the message’s id, and is marked as automatic', async () => {
    const server = await newServer();
    await sender(`smtp://127.0.0.1:${server.port}`).send(message);
    const [mail] = server.received;
    expect(mail).toMatchObject({
      from: 'no-reply@example.org',
      to: ['ada@example.com'],
      text: message.text,
      html: message.html,
    });
    expect(mail?.files.size).toBe(0);
    expect(Object.fromEntries(mail?.headers ?? [])).toMatchObject({
      from: 'Café, Ltd <no-reply@example.org>',
      to: 'ada@example.com',
      subject: message.subject,
      'message-id': `<${message.id}@example.org>`,
      'auto-submitted': 'auto-generated',
      'content-type': expect.stringMatching(/^multipart\/alternative;/),
    });
  });

  it('contains the logo, which the HTML shows by its content id', async () => {
    const server = await newServer();
    const logo = { png: Buffer.from('89504e470d0a1a0a', 'hex'), contentId: 'logo@postern' };
    await sender(`smtp://127.0.0.1:${server.port}`, { logo }).send(message);
    expect(server.received[0]).toMatchObject({ text: message.text, html: message.html });
    expect(server.received[0]?.files).toEqual(new Map([['logo@postern', logo.png]]));
  });

  it('uses implicit TLS with smtps and STARTTLS with smtp, and logs in', async () => {
    for (const [tls, url] of [
      ['from_start', (port: number) => `smtps://${credentials}127.0.0.1:${port}`],
      ['starttls', (port: number) => `smtp://${credentials}127.0.0.1:${port}?tls=required`],
    ] as const) {
      const server = await newServer({ tls, login });
      await sender(url(server.port), { ca: selfSigned }).send(message);
      expect(server.received).toMatchObject([{ user: login.user, encrypted: true }]);
    }
  });

  it('is not sent to a server without STARTTLS or with an untrusted certificate', async () => {
    const plain = await newServer({ tls: 'none', login });
    const required = (port: number) => sender(`smtp://${credentials}127.0.0.1:${port}?tls=required`);
    expect((await failureOf(required(plain.port).send(message))).text).toMatch(
      /^the mail server answered 500 to STARTTLS/,
    );
    const untrustedStarttls = await newServer({ tls: 'starttls', login });
    expect((await failureOf(required(untrustedStarttls.port).send(message))).text).toMatch(/^TLS with the mail server/);
    const untrustedFromStart = await newServer({ tls: 'from_start', login });
    const overTls = sender(`smtps://${credentials}127.0.0.1:${untrustedFromStart.port}`);
    expect((await failureOf(overTls.send(message))).text).toMatch(/^TLS with the mail server/);
    expect(
      [plain, untrustedStarttls, untrustedFromStart].flatMap(({ requestedRecipients }) => requestedRecipients),
    ).toEqual([]);
  });

  it('cannot get a second recipient or another header through its subject, text or recipient', async () => {
    const server = await newServer();
    const mail = sender(`smtp://127.0.0.1:${server.port}`);
    await mail.send({ ...message, subject: 'one\r\nBcc: eve@example.com\r\n\r\nand a body' });
    await mail.send({ ...message, text: 'line\r\n.\r\nRCPT TO:<eve@example.com>\r\n..' });
    for (const to of ['ada@example.com, eve@example.com', 'ada@example.com\r\nRCPT TO:<eve@example.com>']) {
      expect(await failureOf(mail.send({ ...message, to }))).toMatchObject({ permanent: true });
    }
    expect(server.requestedRecipients.filter((address) => address === 'eve@example.com')).toEqual([]);
    for (const { headers, to } of server.received) {
      expect(headers.has('bcc')).toBe(false);
      expect(to).toHaveLength(1);
    }
    expect(server.received[1]?.text).toBe('line\n.\nRCPT TO:<eve@example.com>\n..');
  });

  it.each([
    ['421', 'DATA', false],
    ['450', 'RCPT', false],
    ['451', 'DATA', false],
    ['550', 'RCPT', true],
    ['554', 'DATA', true],
  ] as const)(
    'fails on %s to %s, permanently only if a 5xx status answers RCPT TO or DATA',
    async (status, at, permanent) => {
      const server = await newServer();
      server.refuse({ status: Number(status), at });
      const failed = await failureOf(sender(`smtp://127.0.0.1:${server.port}`).send(message));
      expect(failed.text).toMatch(
        new RegExp(`^the mail server answered ${status}( \\d\\.\\d\\.\\d)?( to (RCPT TO|DATA))?$`),
      );
      expect(failed.permanent).toBe(permanent);
      await sender(`smtp://127.0.0.1:${server.port}`).send(message);
      expect(server.received).toHaveLength(1);
    },
  );

  it('fails for good, and says why, if the server cannot take a recipient that is not ASCII', async () => {
    const server = await newServer();
    server.refuse({ status: 553, at: 'RCPT' });
    const sending = sender(`smtp://127.0.0.1:${server.port}`).send({ ...message, to: 'анна@example.com' });
    const { text, permanent } = await failureOf(sending);
    expect(permanent).toBe(true);
    expect(text).toMatch(/^the mail server answered 553 to RCPT TO: .*not ASCII.*\(SMTPUTF8\)$/);
    server.refuse({ status: 550, at: 'RCPT' });
    const other = await failureOf(sender(`smtp://127.0.0.1:${server.port}`).send(message));
    expect(other.text).toBe('the mail server answered 550 to RCPT TO');
  });

  it('names a recipient with dots before the @ in quotes, as SMTP requires', async () => {
    const lines: string[] = [];
    const server = createServer((socket) => {
      socket.write('220 ready\r\n');
      createInterface({ input: socket }).on('line', (line) => {
        lines.push(line);
        socket.write(line.startsWith('RCPT') ? '550 no\r\n' : '250 ok\r\n');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const sending = sender(`smtp://127.0.0.1:${port}?tls=none`).send({ ...message, to: 'a..b.@docomo.ne.jp' });
    await failureOf(sending);
    expect(lines).toContain('RCPT TO:<"a..b."@docomo.ne.jp>');
  });

  it('says whether the mailbox does not exist, which is no fault of the sender or its network', async () => {
    for (const [answer, isUnknown] of [
      ['550 5.1.1 <ada@example.com>: Recipient address rejected', true],
      ['550-5.1.1 The account does not exist\r\n550 5.1.1 see the help', true],
      ['556 5.1.10 the domain takes no mail', true],
      ['550 No such user here', true],
      ['550 5.7.1 no such user for a sender like you', false],
      ['550 your address is on a list', false],
      ['552 5.2.2 mailbox full', false],
      ['450 4.1.1 no such user yet', false],
    ] as const) {
      const { port } = await newTalk({ 'RCPT TO': answer });
      const { failure, isUnknownMailbox } = await failureOf(sender(`smtp://127.0.0.1:${port}?tls=none`).send(message));
      expect([answer, failure, isUnknownMailbox]).toEqual([
        answer,
        answer.startsWith('4') ? 'unavailable' : 'invalid',
        isUnknown,
      ]);
    }
  });

  it('may have arrived if the server ends the connection or is silent after the content, and not before', async () => {
    const failureAfter = async (answers: Record<string, string | 'end' | 'silence'>) => {
      const { port } = await newTalk(answers);
      // A busy machine must get to the end of the content within this time.
      const mail = sender(`smtp://127.0.0.1:${port}?tls=none`, { totalTimeoutMs: 2000 });
      return (await failureOf(mail.send(message))).failure;
    };
    const cases = (['end', 'silence'] as const).flatMap((what) => [
      ...['EHLO', 'MAIL FROM', 'RCPT TO', 'DATA'].map((command) => [command, what, 'unavailable'] as const),
      ['.', what, 'unclear'] as const,
    ]);
    const all = [...cases, ['.', '451 later', 'unavailable'] as const, ['.', '554 never', 'refused'] as const];
    const failed = await Promise.all(
      all.map(async ([command, what]) => [command, what, await failureAfter({ [command]: what })]),
    );
    expect(failed).toEqual(all);
  });

  it('fails temporarily if the password is refused', async () => {
    const server = await newServer({ login });
    const failed = await failureOf(sender(`smtp://relay:wrong-wörd@127.0.0.1:${server.port}`).send(message));
    expect(failed).toMatchObject({ text: expect.stringMatching(/^the mail server answered 535/), permanent: false });
  });

  it('fails in time if the server is down, disconnects, sends invalid data or does not answer', async () => {
    const gone = await startRudeServer(() => undefined);
    await gone.close();
    const silent = await newRudeServer(() => undefined);
    const rude = [
      await newRudeServer((socket) => socket.end()),
      await newRudeServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
      await newRudeServer((socket) => socket.write(Buffer.from([0, 255, 10, 13, 10]))),
      await newRudeServer((socket) => socket.write('220 hello\r\n')),
      await newRudeServer((socket) => socket.write(`220-${'x'.repeat(1_000_000)}`)),
      silent,
      gone,
    ];
    for (const { port } of rude) {
      const { text } = await failureOf(sender(`smtp://127.0.0.1:${port}`, { totalTimeoutMs: 300 }).send(message));
      expect(text).toMatch(/^the mail server (127\.0\.0\.1 (cannot be reached|did not answer in time)|answered \d{3})/);
    }
  });
});

describe('SMTP_URL', () => {
  const read = (text: string) => parseSmtpUrl(text);
  it('gives host, port, TLS mode and credentials', () => {
    expect(read('smtps://a%40b:c%3Ad@mail.example.com')).toEqual({
      ...{ host: 'mail.example.com', port: 465, tls: 'from_start', user: 'a@b', password: 'c:d' },
    });
    expect(read('smtp://mail.example.com')).toMatchObject({ port: 587, tls: 'starttls', user: undefined });
    expect(read('smtp://mail.example.com:25?tls=none')).toMatchObject({ port: 25, tls: 'none' });
    expect(read('smtp://[::1]')).toMatchObject({ host: '::1', tls: 'none' });
    expect(read('smtp://localhost:1025?tls=required')).toMatchObject({ tls: 'starttls' });
  });

  it.each([
    'http://mail.example.com',
    'mail.example.com',
    'smtp://',
    'smtps://mail.example.com?tls=none',
    'smtp://mail.example.com?tls=maybe',
    'smtp://mail.example.com?tls=none&tls=required',
    'smtp://mail.example.com?requireTLS=false',
    'smtp://mail.example.com/path',
    'smtp://user@mail.example.com',
    'smtp://user:a%0Ab@mail.example.com',
    'smtp://user:%ff@mail.example.com',
  ])('cannot be %s', (text) => {
    expect(read(text)).toBeUndefined();
  });
});

describe('a sender with connections that stay open', () => {
  /** A server that counts its connections. `answer` may answer a line in another way; undefined: as a server that accepts it. */
  async function newCounter(answer: (line: string, connection: number) => string | 'end' | 'silence' | undefined) {
    const seen = { connections: 0, open: 0, mails: 0 };
    const server = await newRudeServer((socket) => {
      seen.connections += 1;
      seen.open += 1;
      const connection = seen.connections;
      socket.on('close', () => {
        seen.open -= 1;
      });
      let isContent = false;
      socket.write('220 ready\r\n');
      createInterface({ input: socket }).on('line', (line) => {
        if (isContent && line !== '.') return;
        isContent = false;
        const other = answer(line, connection);
        if (other === 'silence') return;
        if (other === 'end') return void socket.destroy();
        if (line === '.') seen.mails += other === undefined ? 1 : 0;
        isContent = line === 'DATA' && other === undefined;
        socket.write(`${other ?? (line === 'DATA' ? '354 go on' : '250 ok')}\r\n`);
      });
    });
    return { seen, port: server.port };
  }
  function pooled(port: number, options: Partial<SmtpMailOptions> & { connections?: number } = {}) {
    const target = parseSmtpUrl(`smtp://127.0.0.1:${port}`);
    if (target === undefined) return expect.unreachable('no SMTP_URL');
    const from = { name: 'Example', address: 'no-reply@example.org' };
    const sender = createPooledSmtpMail({ target, from, connections: 2, ...options });
    onTestFinished(() => sender.close());
    return sender;
  }
  const mail = (id: number): MailMessage => ({ ...message, id: `582a5abb-1335-4794-4855-11e067b8c5${10 + id}` });

  it('sends many mails over a few connections, with the Message-ID of each', async () => {
    const { seen, port } = await newCounter(() => undefined);
    const sender = pooled(port);
    const mails = Array.from({ length: 20 }, (_, id) => mail(id));
    const sent = await Promise.all(mails.map((each) => sender.send(each)));
    expect(sent).toEqual(mails.map(({ id }) => ({ provider: 'smtp', reference: id })));
    expect(seen).toEqual({ connections: 2, open: 2, mails: 20 });
  });

  it('goes on after a refused recipient, who is refused for good', async () => {
    let isRefused = true;
    const { seen, port } = await newCounter((line) =>
      line.startsWith('RCPT') && isRefused ? '550 5.1.1 refused: unknown' : undefined,
    );
    const sender = pooled(port);
    expect(await failureOf(sender.send(mail(1)))).toMatchObject({ failure: 'invalid', isUnknownMailbox: true });
    isRefused = false;
    await sender.send(mail(2));
    expect(seen.mails).toBe(1);
  });

  it('sends a mail on a new connection if the server has closed the idle one', async () => {
    const { seen, port } = await newCounter((line, connection) =>
      line.startsWith('MAIL') && connection === 1 && seen.mails === 1 ? 'end' : undefined,
    );
    const sender = pooled(port, { connections: 1 });
    await sender.send(mail(1));
    await sender.send(mail(2));
    expect(seen).toMatchObject({ connections: 2, mails: 2 });
  });

  it('says whether a mail without an answer may have been accepted', async () => {
    for (const [stop, failure] of [
      ['.', 'unclear'],
      ['RCPT', 'unavailable'],
    ] as const) {
      const { port } = await newCounter((line) => (line.startsWith(stop) ? 'silence' : undefined));
      const outcome = await failureOf(pooled(port, { totalTimeoutMs: stop === '.' ? 2000 : 300 }).send(mail(1)));
      expect(outcome).toMatchObject({ failure, text: 'the mail server 127.0.0.1 did not answer in time' });
    }
  });

  it('ends its connections when it is closed', async () => {
    const { seen, port } = await newCounter(() => undefined);
    const sender = pooled(port);
    await sender.send(mail(1));
    await sender.close();
    await eventually('the connection to end', async () => seen.open === 0 || undefined);
  });
});
