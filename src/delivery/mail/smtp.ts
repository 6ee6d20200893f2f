import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import type { Transporter } from 'nodemailer';
import type { SmtpTarget } from '../../lib/urls.js';
import type { MailMessage, MailSender } from '../../messages/mail-sender.js';
import { ProviderError } from '../providers/provider-error.js';
import { composedMail, demandPlainRecipient, type MailOrigin, postmarkHeader } from './mail-content.js';

export interface SmtpMailOptions extends MailOrigin {
  readonly target: SmtpTarget;
  /** Whether the server is Postmark's, and its events are read. */
  readonly isPostmark?: boolean;
  /** Milliseconds to connect. The default is 3000. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds for one mail in total. The default is 10,000. */
  readonly totalTimeoutMs?: number;
  /** Certificates to trust instead of those of Node.js. */
  readonly ca?: ConnectionOptions['ca'];
}

const name = 'smtp';

/** A sender that keeps connections open. */
export interface PooledMailSender extends MailSender {
  /** Ends the connections, also those that are sending. */
  close(): Promise<void>;
}

/**
 * Sends each mail to an SMTP server (RFC 5321) on a connection of its own, so that no mail waits for another. TLS is
 * implicit (RFC 8314) or by STARTTLS (RFC 3207). If the server accepted a mail but its response was lost, the mail is
 * sent again with the same Message-ID. The reference of an accepted mail is its id, because servers report no other.
 */
export function createSmtpMail(options: SmtpMailOptions): MailSender {
  const { target, connectTimeoutMs = 3000, totalTimeoutMs = 10_000 } = options;
  return {
    name,
    async send(message) {
      demandPlainRecipient(name, message);
      // Loaded with the first mail, to save memory in services that send none.
      const { createTransport } = await import('nodemailer');
      const connection = await openConnection(target, connectTimeoutMs);
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        connection.destroy();
      }, totalTimeoutMs).unref();
      connection.once('close', () => clearTimeout(timer));
      const transport = createTransport({ ...serverOptions(options), connection });
      const begun = watchContents(transport);
      try {
        await transport.sendMail(mailOf(message, options));
        // The library sends QUIT and closes the connection. The process need not wait for that.
        connection.unref();
        return { provider: name, reference: message.id };
      } catch (error) {
        connection.destroy();
        throw failureOf(error, message, { host: target.host, hasContentBegun: begun.size > 0, isLate });
      }
    },
  };
}

/**
 * Does the same over a few connections that stay open for a while, for many mails that nobody waits for. More mails than
 * connections wait for one, and `totalTimeoutMs` includes this wait.
 */
export function createPooledSmtpMail(options: SmtpMailOptions & { readonly connections: number }): PooledMailSender {
  const { target, connections, connectTimeoutMs = 3000, totalTimeoutMs = 10_000 } = options;
  let opened: ReturnType<typeof open> | undefined;
  async function open() {
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({
      ...serverOptions(options),
      pool: true,
      port: target.port,
      maxConnections: connections,
      idleTimeout: 30_000,
      // A server may close a connection that was idle.
      maxRequeues: 1,
      connectionTimeout: connectTimeoutMs,
      greetingTimeout: connectTimeoutMs,
      socketTimeout: totalTimeoutMs,
    });
    return { transport, begun: watchContents(transport) };
  }
  return {
    name,
    async send(message) {
      demandPlainRecipient(name, message);
      // A server that did not answer the first time is tried again.
      opened ??= open().catch((error) => {
        opened = undefined;
        throw error;
      });
      const { transport, begun } = await opened;
      const signal = AbortSignal.timeout(totalTimeoutMs);
      const mail = { ...mailOf(message, options), signal };
      try {
        await transport.sendMail(mail);
        return { provider: name, reference: message.id };
      } catch (error) {
        const attempt = { host: target.host, hasContentBegun: begun.has(mail.messageId), isLate: signal.aborted };
        throw failureOf(error, message, attempt);
      } finally {
        begun.delete(mail.messageId);
      }
    },
    async close() {
      const open = await opened?.catch(() => undefined);
      open?.transport.close({ force: true });
    },
  };
}

/** How both connect to the server. */
const serverOptions = ({ target: { host, tls, user, password }, ca }: SmtpMailOptions) => ({
  host,
  secure: tls === 'from_start',
  requireTLS: tls === 'starttls',
  ignoreTLS: tls === 'none',
  ...(user !== undefined && { auth: { user, pass: password } }),
  tls: { ...(ca !== undefined && { ca }) },
  maxResponseSize: 65_536,
});

const mailOf = (message: MailMessage, options: SmtpMailOptions) =>
  composedMail(message, options, options.isPostmark === true ? { [postmarkHeader]: message.id } : {});

/** @returns the ids of the mails whose content the server has asked for: the library reads it then */
function watchContents(transport: Pick<Transporter, 'use'>): Set<string> {
  const begun = new Set<string>();
  transport.use('stream', (mail, done) => {
    mail.message.processFunc((content) =>
      Readable.from(
        (async function* () {
          begun.add(String(mail.data.messageId));
          yield* content;
        })(),
      ),
    );
    done();
  });
  return begun;
}

function failureOf(
  error: unknown,
  { to }: MailMessage,
  {
    host,
    hasContentBegun,
    isLate,
  }: { readonly host: string; readonly hasContentBegun: boolean; readonly isLate: boolean },
): ProviderError {
  const unanswered = hasContentBegun ? 'unclear' : 'unavailable';
  if (isLate) return new ProviderError(name, unanswered, `the mail server ${host} did not answer in time`);
  return toProviderError(error, { host, unanswered, isUtf8: /[^\0-\x7f]/.test(to) });
}

function openConnection({ host, port }: SmtpTarget, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new ProviderError(name, 'unavailable', `the mail server ${host} cannot be reached in time`));
    }, timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(toProviderError(error, { host, unanswered: 'unavailable', isUtf8: false }));
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', fail);
      // The library adds a listener of its own later. Without this listener, an error before that would end the
      // process.
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

/** The SMTP commands that an error message may name. */
const commands = ['MAIL FROM', 'RCPT TO', 'DATA', 'AUTH', 'STARTTLS', 'EHLO', 'HELO'];

/** The enhanced status codes of a mailbox or domain that does not exist (RFC 3463, 3.2; RFC 7505, 4.1). */
const unknownMailbox = /^5\.1\.(?:1|2|3|6|10)$/;
/** The texts of servers that send no enhanced status code. Only these: a 550 may also mean that the server refuses the sender. */
const unknownMailboxText =
  /\b(?:no such (?:user|recipient|mailbox|address)|(?:user|recipient|mailbox|address|account) (?:is )?(?:unknown|not found|does(?: not|n.t) exist)|unknown (?:user|recipient|mailbox|address)|no mailbox)\b/i;

interface Attempt {
  readonly host: string;
  /** What a lost connection means. */
  readonly unanswered: 'unclear' | 'unavailable';
  /** Whether the recipient needs SMTPUTF8. */
  readonly isUtf8: boolean;
}

/** Does not include the server's text: it may repeat what was sent. The enhanced status code is that of RFC 3463. */
function toProviderError(error: unknown, { host, unanswered, isUtf8 }: Attempt): ProviderError {
  const { code, command, responseCode, response, message } = error as Record<string, unknown>;
  if (typeof responseCode === 'number') {
    const [, enhanced = ''] = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(String(response)) ?? [];
    const refusedCommand = commands.find((candidate) => String(command).startsWith(candidate));
    const status = [responseCode, enhanced].filter((part) => part !== '').join(' ');
    // RFC 5321, 4.2.1: 5xx is permanent. But an operator can correct the sender or the password, so only errors about
    // the recipient or the mail itself are final.
    const isAboutRecipient = responseCode >= 500 && refusedCommand === 'RCPT TO';
    const isAboutMail = responseCode >= 500 && refusedCommand === 'DATA';
    // RFC 6531: such a recipient needs the extension SMTPUTF8 on the way to its mailbox.
    const hint =
      isUtf8 && isAboutRecipient
        ? ': the address has letters that are not ASCII, which the server may not support (SMTPUTF8)'
        : '';
    const step = refusedCommand === undefined ? '' : ` to ${refusedCommand}`;
    const isUnknown = enhanced === '' ? unknownMailboxText.test(String(response)) : unknownMailbox.test(enhanced);
    return new ProviderError(
      name,
      isAboutRecipient ? 'invalid' : isAboutMail ? 'refused' : 'unavailable',
      `the mail server answered ${status}${step}${hint}`,
      undefined,
      isAboutRecipient && isUnknown,
    );
  }
  // The library reports failures of TLS with the code of other socket errors.
  if (code === 'ETLS' || /certificate|altnames/i.test(String(message))) {
    return new ProviderError(name, 'unavailable', `TLS with the mail server ${host} failed: see its certificate`);
  }
  const reason = /^[A-Z][A-Z0-9_]{2,40}$/.test(String(code)) ? ` (${String(code)})` : '';
  return new ProviderError(name, unanswered, `the mail server ${host} cannot be reached${reason}`);
}
