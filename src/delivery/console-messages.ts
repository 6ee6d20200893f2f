import type { MailMessage, MailSender } from '../messages/mail-sender.js';
import type { SmsMessage, SmsSender } from '../messages/sms-sender.js';

/** Prints mails, for development. Anyone who sees the output can log in as any user, so HOST must be a loopback address. */
export function createConsoleMail(write: (line: string) => void): MailSender {
  return {
    name: 'console',
    send: async (message) => write(`Mail to ${message.to}: ${contentOf(message, message.subject)}`),
  };
}

/** Prints text messages, for development: see `createConsoleMail`. */
export function createConsoleSms(write: (line: string) => void): SmsSender {
  return {
    name: 'console',
    async send(message) {
      write(`SMS to ${message.to}: ${contentOf(message, message.text)}`);
      return { provider: 'console', reference: null };
    },
  };
}

/** The code of a message, or the text of a notice. */
function contentOf({ code, authenticationId }: MailMessage | SmsMessage, notice: string): string {
  const login = authenticationId === null ? '' : ` for authentication ${authenticationId}`;
  return code === null ? notice : `code ${code}${login}`;
}
