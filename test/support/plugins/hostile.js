// Does the harm that the secret names. Each secret has a part that must never reach the log.
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const never = new Promise(() => undefined);
const memory = [];

const throwing = (secret) => ({
  get() {
    throw new Error(secret);
  },
  getPrototypeOf() {
    throw new Error(secret);
  },
  has() {
    throw new Error(secret);
  },
});

/** A list of pairs instead of an object, because names of methods would be part of stack traces. */
const harms = new Map([
  ['right', () => true],
  ['unawaited rejection', (secret) => void Promise.reject(new Error(secret))],
  ['unawaited text', (secret) => void Promise.reject(secret)],
  ['late exception', (secret) => void setTimeout(() => raise(new Error(secret)), 1)],
  ['late proxy', (secret) => void setImmediate(() => raise(new Proxy({}, throwing(secret))))],
  ['exit', () => process.exit(0)],
  ['late exit', () => wait(5).then(() => process.exit(7))],
  ['abort', () => process.abort()],
  ['endless loop', () => loop()],
  ['all memory', () => fill()],
  ['printing', (secret) => void [process.stdout.write(`${secret}\n`), process.stderr.write(`${secret}\n`)]],
  ['console', (secret) => console.log(secret)],
  ['getters', (secret) => raise(withGetters(secret))],
  ['proxy', (secret) => raise(new Proxy(new Error(secret), throwing(secret)))],
  ['proxy of a function', (secret) => raise(new Proxy(() => secret, throwing(secret)))],
  ['name', (secret) => raise(Object.assign(new Error(), { name: word(secret) }))],
  ['code', (secret) => raise(Object.assign(new Error(), { code: secret, cause: new Error(secret) }))],
  ['stack', (secret) => raise(Object.assign(new Error(), { stack: `Error\n    at ${secret} (file:///x.js:1:1)` }))],
  ['message as frames', (secret) => raise(new Error(`\n    at ${secret} (file:///x.js:1:1)`))],
  ['cause that repeats', (secret) => raise(cyclic(secret))],
  ['null', () => raise(null)],
  ['symbol', (secret) => raise(Symbol(secret))],
  ['text', (secret) => raise(secret)],
  ['toString', (secret) => raise({ toString: () => raise(new Error(secret)) })],
  // biome-ignore lint/suspicious/noThenProperty: it is the point
  ['thenable that throws', (secret) => ({ then: () => raise(new Error(secret)) })],
  // biome-ignore lint/suspicious/noThenProperty: it is the point
  ['thenable that rejects', (secret) => ({ then: (_resolve, reject) => reject(new Proxy({}, throwing(secret))) })],
  // biome-ignore lint/suspicious/noThenProperty: it is the point
  ['thenable that is wrong', () => ({ then: (resolve) => [resolve(false), resolve(true), raise(new Error())] })],
  ['never', () => never],
  ['huge', () => 'x'.repeat(1e8)],
  ['cyclic', () => cyclic('')],
  ['function', () => () => true],
  ['proxy of true', () => new Proxy(new Boolean(true), {})],
  ['pollution', () => pollute()],
  ['closed port', () => void parentPort?.close()],
  ['messages', () => void parentPort?.postMessage({ type: 'answer', id: 1, json: 'true', value: true })],
  ['own handlers', (secret) => void [process.removeAllListeners(), Promise.reject(new Error(secret))]],
  [
    'own environment',
    () => Object.keys(process.env).every((name) => name.startsWith('AUTHENTICATOR_')) && (workerData ?? null) === null,
  ],
]);

function raise(thrown) {
  throw thrown;
}

function loop() {
  for (;;);
}

function fill() {
  for (;;) memory.push(Array.from({ length: 1000 }, (_, at) => ({ at })));
}

function pollute() {
  Object.prototype.polluted = true;
  Object.prototype.isMultiFactor = true;
  Array.prototype.map = () => [];
  globalThis.JSON = undefined;
  return false;
}

const word = (text) => text.replaceAll(/\W/g, '');

function withGetters(secret) {
  const error = new Error(secret);
  for (const member of ['name', 'message', 'stack', 'code', 'cause']) {
    Object.defineProperty(error, member, { get: () => raise(new Error(secret)) });
  }
  return error;
}

function cyclic(secret) {
  const error = new Error(secret);
  error.cause = error;
  return error;
}

export default {
  name: 'hostile',
  steps: 1,
  verify(_user, secret) {
    const [harm] = secret.split('; ');
    return harms.get(harm)?.(secret) ?? false;
  },
};
