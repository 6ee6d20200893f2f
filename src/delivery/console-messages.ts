import type { MailMessage, MailSender } from '../messages/mail-sender.js';
import type { SmsMessage, SmsSender } from '../messages/sms-sender.js';

/** Prints mails, for development. Anyone who sees the output can log in as any user. @param refusal says why nothing may be printed */
export function createConsoleMail(write: (line: string) => void, refusal: Refusal): MailSender {
  return {
    name: 'console',
    async send(message) {
      demandAllowed(refusal);
      write(`Mail to ${message.to}: ${contentOf(message, message.subject)}`);
      return { provider: 'console', reference: null };
    },
  };
}

/** Prints text messages, for development: see `createConsoleMail`. */
export function createConsoleSms(write: (line: string) => void, refusal: Refusal): SmsSender {
  return {
    name: 'console',
    async send(message) {
      demandAllowed(refusal);
      write(`SMS to ${message.to}: ${contentOf(message, message.text)}`);
      return { provider: 'console', reference: null };
    },
  };
}

/** Why nothing may be printed; undefined if it may be. */
type Refusal = () => string | undefined;

/** @throws Error with the reason. No retry can help. */
function demandAllowed(refusal: Refusal): void {
  const reason = refusal();
  if (reason === undefined) return;
  throw Object.assign(new Error(`the message was not printed: ${reason}`), { permanent: true, provider: 'console' });
}

/** The code of a message, or the text of a notice. */
function contentOf({ code, authenticationId }: MailMessage | SmsMessage, notice: string): string {
  const login = authenticationId === null ? '' : ` for authentication ${authenticationId}`;
  return code === null ? notice : `code ${code}${login}`;
}
