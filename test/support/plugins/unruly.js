// Does as the secret says. `globalThis.unruly` is what it saw.
import { setTimeout as wait } from 'node:timers/promises';

const seen = [];
globalThis.unruly = seen;

/** Pairs and no object: the names of methods would stand in stack traces. */
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

export default {
  name: 'unruly',
  steps: 1,
  verify(user, secret) {
    seen.push({ user, secret });
    return answers.get(secret)?.(user, secret) ?? false;
  },
};
