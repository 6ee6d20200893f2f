import { connect, type Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { MailMessage, MailSender } from '../../authentication/messages/mail-sender.js';
import type { SmtpTarget } from '../../lib/smtp-url.js';

/** Who a mail is from. */
export interface MailFrom {
  /** Shown beside the address; may be empty. */
  readonly name: string;
  readonly address: string;
}

export interface SmtpMailOptions {
  readonly target: SmtpTarget;
  readonly from: MailFrom;
  /** Milliseconds until there is a connection; 3000. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds for the whole of one mail; 10,000. */
  readonly totalTimeoutMs?: number;
  /** Certificates to trust instead of those that Node.js knows. */
  readonly ca?: ConnectionOptions['ca'];
}

/** Its message holds what failed and the server's status, nothing of the mail, its recipient or a password. */
class SmtpError extends Error {
  override readonly name = 'SmtpError';
  /** Whether the same mail will never be taken: then it is not tried again. */
  readonly permanent: boolean;

  constructor(message: string, permanent = false) {
    super(message);
    this.permanent = permanent;
  }
}

/**
 * Hands each mail to an SMTP server on a connection of its own, so that no mail waits for another. A mail that was taken
 * though the answer got lost is sent again under the same Message-ID.
 */
export function createSmtpMail(options: SmtpMailOptions): MailSender {
  const { target, from, connectTimeoutMs = 3000, totalTimeoutMs = 10_000, ca } = options;
  const { host, tls, user, password } = target;
  return {
    name: 'smtp',
    async send(message) {
      if (!plainAddress.test(message.to)) throw new SmtpError('the recipient is no plain mail address', true);
      // Loaded when the first mail goes out: most of what it holds is memory that an idle service need not have.
      const { createTransport } = await import('nodemailer');
      const connection = await openConnection(target, connectTimeoutMs);
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        connection.destroy();
      }, totalTimeoutMs).unref();
      connection.once('close', () => clearTimeout(timer));
      const transport = createTransport({
        ...{
          host,
          connection,
          secure: tls === 'from_start',
          requireTLS: tls === 'starttls',
          ignoreTLS: tls === 'none',
        },
        ...(user !== undefined && { auth: { user, pass: password } }),
        tls: { ...(ca !== undefined && { ca }) },
        ...{ disableFileAccess: true, disableUrlAccess: true, maxResponseSize: 65_536 },
      });
      try {
        await transport.sendMail(contentOf(message, from));
        // It says goodbye by itself; nobody waits for that.
        connection.unref();
      } catch (error) {
        connection.destroy();
        throw isLate ? new SmtpError(`the mail server ${host} did not answer in time`) : failure(error, host);
      }
    },
  };
}

/** One mailbox, unquoted. The library reads more than one address from a text with a comma. */
const plainAddress = /^[^\s\p{Cc}@,;:<>()[\]"\\]+@[^\s\p{Cc}@,;:<>()[\]"\\]+$/u;

function contentOf({ id, to, subject, text }: MailMessage, from: MailFrom) {
  return {
    from,
    to: { name: '', address: to },
    envelope: { from: from.address, to: [to] },
    subject,
    text,
    messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    // RFC 3834: no out-of-office reply is to come back.
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

function openConnection({ host, port }: SmtpTarget, patience: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new SmtpError(`the mail server ${host} cannot be reached in time`));
    }, patience);
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(failure(error, host));
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', fail);
      // Whoever uses it hears of errors too; without a listener one that comes in between would end the process.
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

/** Commands that an answer can be to, as they may be told. */
const commands = ['MAIL FROM', 'RCPT TO', 'DATA', 'AUTH', 'STARTTLS', 'EHLO', 'HELO'];

/** In words of our own: what the server says may repeat what it was sent. */
function failure(error: unknown, host: string): SmtpError {
  const { code, command, responseCode, response, message } = error as Record<string, unknown>;
  if (typeof responseCode === 'number') {
    const [, enhanced = ''] = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(String(response)) ?? [];
    const to = commands.find((known) => String(command).startsWith(known));
    const status = [responseCode, enhanced].filter((part) => part !== '').join(' ');
    // Of the recipient or the mail itself; what is wrong with the sender or the password, the operator can mend.
    const isFinal = responseCode >= 500 && (to === 'RCPT TO' || to === 'DATA');
    return new SmtpError(`the mail server answered ${status}${to === undefined ? '' : ` to ${to}`}`, isFinal);
  }
  // The library gives the failures of TLS the code of any other of the socket.
  if (code === 'ETLS' || /certificate|altnames/i.test(String(message))) {
    return new SmtpError(`TLS with the mail server ${host} failed: see its certificate`);
  }
  const reason = /^[A-Z][A-Z0-9_]{2,40}$/.test(String(code)) ? ` (${String(code)})` : '';
  return new SmtpError(`the mail server ${host} cannot be reached${reason}`);
}
