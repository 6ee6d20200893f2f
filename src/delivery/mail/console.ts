import type { MailSender } from '../../authentication/messages/mail-sender.js';

/** For development: whoever sees the output can log in as anybody, so the configuration asks for a loopback host. */
export function createConsoleMail(write: (line: string) => void): MailSender {
  return {
    name: 'console',
    send: async ({ to, subject, code, authenticationId }) => {
      const login = authenticationId === null ? '' : ` for authentication ${authenticationId}`;
      write(`Mail to ${to}: ${code === null ? subject : `code ${code}${login}`}`);
    },
  };
}
