import type { SmsSender } from '../../authentication/messages/sms-sender.js';

/** For development: whoever sees the output can log in as anybody, so the configuration asks for a loopback host. */
export function createConsoleSms(write: (line: string) => void): SmsSender {
  return {
    name: 'console',
    send: async ({ to, text, code, authenticationId }) => {
      const login = authenticationId === null ? '' : ` for authentication ${authenticationId}`;
      write(`SMS to ${to}: ${code === null ? text : `code ${code}${login}`}`);
    },
  };
}
