// Does what the secret names, and writes to the log which user it was shown.
import { setTimeout as wait } from 'node:timers/promises';

/** A list of pairs instead of an object, because names of methods would be part of stack traces. */
const answers = new Map([
  ['right', () => true],
  ['text', () => 'true'],
  ['number', () => 1],
  ['object', () => ({ approved: true })],
  [
    'secret-that-throws',
    (_user, secret) => {
      throw new Error(`${secret} is not right`);
    },
  ],
  [
    'secret-that-throws-later',
    (user, secret) => wait(user === undefined ? 0 : 250).then(() => Promise.reject(new TypeError(secret))),
  ],
  ['slow for somebody', (user) => wait(user === undefined ? 0 : 250, false)],
]);

const shown = (user) => Object.entries(user).map(([member, value]) => `${member}=${value}`);

export default ({ log }) => ({
  name: 'unruly',
  steps: 1,
  verify(user, secret) {
    log('info', `shown ${user === undefined ? user : shown(user)}`);
    return answers.get(secret)?.(user, secret) ?? false;
  },
});
