import { connect, type Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { SmtpTarget } from '../lib/urls.js';
import type { MailMessage, MailSender } from '../messages/mail-sender.js';

/** The sender of mails. */
export interface MailSenderAddress {
  /** The display name; may be empty. */
  readonly name: string;
  readonly address: string;
}

export interface SmtpMailOptions {
  readonly target: SmtpTarget;
  readonly from: MailSenderAddress;
  /** The logo (PNG), which mails show by its content id. */
  readonly logo?: { readonly png: Buffer; readonly contentId: string } | undefined;
  /** Milliseconds to connect. The default is 3000. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds for one mail in total. The default is 10,000. */
  readonly totalTimeoutMs?: number;
  /** Certificates to trust instead of those of Node.js. */
  readonly ca?: ConnectionOptions['ca'];
}

/**
 * Safe to log: its message contains the failed step and the server's status, but no part of the mail, no recipient and
 * no password.
 */
class SmtpError extends Error {
  override readonly name = 'SmtpError';
  /** Whether the server will never accept this mail, so that it is not retried. */
  readonly permanent: boolean;

  constructor(message: string, permanent = false) {
    super(message);
    this.permanent = permanent;
  }
}

/**
 * Sends each mail to an SMTP server (RFC 5321) on a connection of its own, so that no mail waits for another. TLS is
 * implicit (RFC 8314) or by STARTTLS (RFC 3207). If the server accepted a mail but its response was lost, the mail is
 * sent again with the same Message-ID.
 */
export function createSmtpMail(options: SmtpMailOptions): MailSender {
  const { target, from, logo, connectTimeoutMs = 3000, totalTimeoutMs = 10_000, ca } = options;
  const { host, tls, user, password } = target;
  return {
    name: 'smtp',
    async send(message) {
      if (!plainAddress.test(message.to)) throw new SmtpError('the recipient is not a plain mail address', true);
      // Loaded with the first mail, to save memory in services that send none.
      const { createTransport } = await import('nodemailer');
      const connection = await openConnection(target, connectTimeoutMs);
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        connection.destroy();
      }, totalTimeoutMs).unref();
      connection.once('close', () => clearTimeout(timer));
      const transport = createTransport({
        host,
        connection,
        secure: tls === 'from_start',
        requireTLS: tls === 'starttls',
        ignoreTLS: tls === 'none',
        ...(user !== undefined && { auth: { user, pass: password } }),
        tls: { ...(ca !== undefined && { ca }) },
        disableFileAccess: true,
        disableUrlAccess: true,
        maxResponseSize: 65_536,
      });
      try {
        await transport.sendMail(contentOf(message, from, logo));
        // The library sends QUIT and closes the connection. The process need not wait for that.
        connection.unref();
      } catch (error) {
        connection.destroy();
        if (isLate) throw new SmtpError(`the mail server ${host} did not answer in time`);
        throw toSmtpError(error, host, /[^\0-\x7f]/.test(message.to));
      }
    },
  };
}

/** One unquoted mailbox (RFC 5321, 4.1.2). The library would read a text with a comma as several addresses. */
const plainAddress = /^[^\s\p{Cc}@,;:<>()[\]"\\]+@[^\s\p{Cc}@,;:<>()[\]"\\]+$/u;

function contentOf(
  { id, to, subject, text, html }: MailMessage,
  from: MailSenderAddress,
  logo: SmtpMailOptions['logo'],
) {
  return {
    from,
    to: { name: '', address: to },
    envelope: { from: from.address, to: [quotedIfNeeded(to)] },
    subject,
    text,
    html,
    // Part of the mail, because programs load no images from servers before the reader agrees.
    attachments:
      logo === undefined
        ? []
        : [
            {
              filename: 'logo.png',
              contentType: 'image/png',
              content: logo.png,
              cid: logo.contentId,
              contentDisposition: 'inline' as const,
            },
          ],
    messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    // RFC 3834, 5: automatic responders, such as out-of-office replies, do not answer.
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

/** Some operators have addresses with dots in a row or before the @. In SMTP they are quoted (RFC 5321, 4.1.2). */
function quotedIfNeeded(address: string): string {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  return /\.\.|\.$/.test(local) ? `"${local}"${address.slice(at)}` : address;
}

function openConnection({ host, port }: SmtpTarget, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new SmtpError(`the mail server ${host} cannot be reached in time`));
    }, timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(toSmtpError(error, host));
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

/**
 * Does not include the server's text: it may repeat what was sent. The enhanced status code is that of RFC 3463.
 * @param isUtf8 whether the recipient needs SMTPUTF8
 */
function toSmtpError(error: unknown, host: string, isUtf8 = false): SmtpError {
  const { code, command, responseCode, response, message } = error as Record<string, unknown>;
  if (typeof responseCode === 'number') {
    const [, enhanced = ''] = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(String(response)) ?? [];
    const refusedCommand = commands.find((candidate) => String(command).startsWith(candidate));
    const status = [responseCode, enhanced].filter((part) => part !== '').join(' ');
    // RFC 5321, 4.2.1: 5xx is permanent. But an operator can correct the sender or the password, so only errors about
    // the recipient or the mail itself are final.
    const isFinal = responseCode >= 500 && (refusedCommand === 'RCPT TO' || refusedCommand === 'DATA');
    // RFC 6531: such a recipient needs the extension SMTPUTF8 on the way to its mailbox.
    const hint =
      isUtf8 && isFinal && refusedCommand === 'RCPT TO'
        ? ': the address has letters that are not ASCII, which the server may not support (SMTPUTF8)'
        : '';
    const step = refusedCommand === undefined ? '' : ` to ${refusedCommand}`;
    return new SmtpError(`the mail server answered ${status}${step}${hint}`, isFinal);
  }
  // The library reports failures of TLS with the code of other socket errors.
  if (code === 'ETLS' || /certificate|altnames/i.test(String(message))) {
    return new SmtpError(`TLS with the mail server ${host} failed: see its certificate`);
  }
  const reason = /^[A-Z][A-Z0-9_]{2,40}$/.test(String(code)) ? ` (${String(code)})` : '';
  return new SmtpError(`the mail server ${host} cannot be reached${reason}`);
}
