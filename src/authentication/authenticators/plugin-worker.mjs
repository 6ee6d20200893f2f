// @ts-check
// The thread of one plug-in. It loads the module, calls it, and sends what it answers as text. JavaScript, because a thread
// begins with a file that Node.js can run, also where the sources are TypeScript.
import { parentPort } from 'node:worker_threads';

/** @import { Beginning, Described, FromThread, Thrown, ToThread } from './plugin-messages.js' */
/** @typedef {Partial<Record<string, unknown>>} Anything */
/** @typedef {(message: FromThread) => void} Send */

/** Characters of an answer as JSON; of a message for the log; of a fault at the start. */
const largest = { answer: 65_536, log: 4096, fault: 1000 };
/** Requests that wait for an answer. A loop without end must not fill the memory of the main thread. */
const maxRequests = 100;
const maxFrames = 10;
/** Of what a plug-in answers, all that is read. */
const members = ['kept', 'lifetime', 'shown', 'message', 'userId', 'isMultiFactor'];

parentPort?.once('message', (/** @type {Beginning} */ { port, url, env }) => {
  /** @type {Send} */
  const send = (message) => port.postMessage(message);
  const requests = createRequests(send);
  /** @param {unknown} thrown */
  const unhandled = (thrown) => {
    requests.note((id) => ({ type: 'unhandled', id, thrown: describeThrown(thrown) }));
  };
  process.on('unhandledRejection', unhandled);
  process.on('uncaughtException', unhandled);
  const started = start(url, contextOf(env, requests), send);
  port.on('message', async (/** @type {ToThread} */ message) => {
    if (message.type === 'ping') send({ type: 'pong' });
    else if (message.type === 'done') requests.settle(message);
    else await answer(await started, message, send);
  });
});

/**
 * @param {string} url
 * @param {object} context
 * @param {Send} send
 * @returns {Promise<Anything>} the plug-in
 */
async function start(url, context, send) {
  try {
    const { default: exported } = await import(url);
    const made = typeof exported === 'function' ? await exported(context) : exported;
    send({ type: 'started', described: describe(made) });
    return made;
  } catch (error) {
    send({ type: 'not started', message: messageOf(error).slice(0, largest.fault) });
    return {};
  }
}

/** @param {unknown} made @returns {Described | undefined} */
function describe(made) {
  if (typeof made !== 'object' || made === null) return undefined;
  const { name, steps, namesUser } = /** @type {Anything} */ (made);
  const functions = ['begin', 'verify', 'identify'].filter(
    (member) => typeof (/** @type {Anything} */ (made)[member]) === 'function',
  );
  return { name: plain(name), steps: plain(steps), namesUser: plain(namesUser), functions };
}

/** What may cross: no functions, and no more of a text than shows that it is too long. @param {unknown} value */
function plain(value) {
  if (typeof value === 'string') return value.slice(0, 100);
  return ['number', 'boolean', 'undefined'].includes(typeof value) ? value : null;
}

/**
 * @param {Anything} plugin
 * @param {Extract<ToThread, { type: 'call' }>} call
 * @param {Send} send
 */
async function answer(plugin, { id, member, given }, send) {
  try {
    const work = /** @type {Function} */ (plugin[member]);
    const value = await work.apply(plugin, given);
    send({ type: 'answer', id, json: member === 'verify' ? String(value === true) : jsonOf(value) });
  } catch (thrown) {
    send({ type: 'failure', id, thrown: describeThrown(thrown) });
  }
}

/** @param {unknown} value */
function jsonOf(value) {
  if (value === undefined || value === null) return 'null';
  // Whatever else is no object is refused as a list is.
  if (typeof value !== 'object' || Array.isArray(value)) return '[]';
  const known = members.map((member) => [member, /** @type {Anything} */ (value)[member]]);
  const json = JSON.stringify(Object.fromEntries(known));
  if (json.length > largest.answer) throw new RangeError('the answer is too long');
  return json;
}

/**
 * What is asked of the main thread. A plug-in that asks faster than it is answered is refused.
 * @param {Send} send
 */
function createRequests(send) {
  /** @type {Map<number, { resolve: (value: unknown) => void, reject: (error: Error) => void }>} */
  const open = new Map();
  let last = 0;
  /** @param {(id: number) => FromThread} message @returns {Promise<any>} */
  const ask = (message) =>
    new Promise((resolve, reject) => {
      if (open.size >= maxRequests) throw new Error(`more than ${maxRequests} requests at a time`);
      last += 1;
      send(message(last));
      open.set(last, { resolve, reject });
    });
  return {
    ask,
    /** The same where nobody waits. @param {(id: number) => FromThread} message */
    note: (message) => void ask(message).catch(() => undefined),
    /** @param {Extract<ToThread, { type: 'done' }>} message */
    settle({ id, value, error }) {
      const request = open.get(id);
      open.delete(id);
      if (error === undefined) request?.resolve(value);
      else request?.reject(Object.assign(new Error(error.message), error));
    },
  };
}

/**
 * @param {Readonly<Record<string, string>>} env
 * @param {ReturnType<typeof createRequests>} requests
 * @returns {import('./plugin.js').PluginContext}
 */
function contextOf(env, { ask, note }) {
  return {
    env,
    log: (level, message) => note((id) => ({ type: 'log', id, level, message: String(message).slice(0, largest.log) })),
    fetch: (url, request = {}) => ask((id) => ({ type: 'fetch', id, url, request })),
  };
}

/**
 * Where something was thrown, and of which class it is. Nothing else of it is read: its text, its name and its properties
 * may hold a secret, and may throw.
 * @param {unknown} thrown
 * @returns {Thrown}
 */
function describeThrown(thrown) {
  /** @type {string[]} */
  let frames = [];
  let kind = /** @type {string} */ (typeof thrown);
  const usual = Error.prepareStackTrace;
  try {
    if (!(thrown instanceof Error)) return { kind, frames };
    kind = 'Error';
    // Places as the engine knows them: the text of a stack begins with the message.
    Error.prepareStackTrace = (_error, sites) => {
      frames = sites
        .slice(0, maxFrames)
        .map((site) => `${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`);
      return '';
    };
    void thrown.stack;
    const { name } = Object.getPrototypeOf(thrown).constructor;
    if (typeof name === 'string' && /^\w{1,64}$/.test(name)) kind = name;
  } catch {
    // A getter or a proxy has thrown. What is known until then is enough.
  } finally {
    Error.prepareStackTrace = usual;
  }
  return { kind, frames };
}

/** @param {unknown} error */
function messageOf(error) {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'it failed while it was loaded';
  }
}
