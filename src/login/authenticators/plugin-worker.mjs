// @ts-check
// The thread of one plug-in. It loads the module, calls it, and sends the results as JSON. It is JavaScript, because Node.js
// must run it from the TypeScript sources too.
import { AsyncLocalStorage } from 'node:async_hooks';
import { parentPort } from 'node:worker_threads';

/** @import { WorkerStart, PluginDescription, FromThread, Thrown, ToThread } from './plugin-messages.js' */
/** @typedef {Partial<Record<string, unknown>>} Anything */
/** @typedef {(message: FromThread) => void} Send */

/** The maximum number of characters: of a result as JSON, of a log message, and of the error of a failed start. */
const maxLength = { answer: 65_536, log: 4096, failure: 1000 };
/** The maximum number of requests that wait. An endless loop must not fill the memory of the main thread. */
const maxRequests = 100;
const maxFrames = 10;
/** The id of the call in which code runs. @type {AsyncLocalStorage<number>} */
const calls = new AsyncLocalStorage();
/** The members of a result that are read. */
const members = ['kept', 'lifetime', 'shown', 'message', 'userId', 'isMultiFactor'];

parentPort?.once('message', (/** @type {WorkerStart} */ { port, url, env }) => {
  /** @type {Send} */
  const send = (message) => port.postMessage(message);
  const requests = createRequests(send);
  /** @param {unknown} thrown */
  const unhandled = (thrown) => {
    requests.notify((id) => ({ type: 'unhandled', id, thrown: describeThrown(thrown) }));
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
    const plugin = typeof exported === 'function' ? await exported(context) : exported;
    send({ type: 'started', description: describe(plugin) });
    return plugin;
  } catch (error) {
    send({ type: 'not started', message: messageOf(error).slice(0, maxLength.failure) });
    return {};
  }
}

/** @param {unknown} plugin @returns {PluginDescription | undefined} */
function describe(plugin) {
  if (typeof plugin !== 'object' || plugin === null) return undefined;
  const { name, steps, namesUser } = /** @type {Anything} */ (plugin);
  const functions = ['begin', 'verify', 'identify'].filter(
    (member) => typeof (/** @type {Anything} */ (plugin)[member]) === 'function',
  );
  return { name: plain(name), steps: plain(steps), namesUser: plain(namesUser), functions };
}

/** A value that can be sent: no functions, and at most 100 characters, which is still too long for a name. @param {unknown} value */
function plain(value) {
  if (typeof value === 'string') return value.slice(0, 100);
  return ['number', 'boolean', 'undefined'].includes(typeof value) ? value : null;
}

/**
 * @param {Anything} plugin
 * @param {Extract<ToThread, { type: 'call' }>} call
 * @param {Send} send
 */
async function answer(plugin, { id, member, args: given }, send) {
  try {
    const work = /** @type {Function} */ (plugin[member]);
    const value = await calls.run(id, () => work.apply(plugin, given));
    send({ type: 'answer', id, json: member === 'verify' ? String(value === true) : jsonOf(value) });
  } catch (thrown) {
    send({ type: 'failure', id, thrown: describeThrown(thrown) });
  }
}

/** @param {unknown} value */
function jsonOf(value) {
  if (value === undefined || value === null) return 'null';
  // A list is refused, and so is any other value that is no object.
  if (typeof value !== 'object' || Array.isArray(value)) return '[]';
  const known = members.map((member) => [member, /** @type {Anything} */ (value)[member]]);
  const json = JSON.stringify(Object.fromEntries(known));
  if (json.length > maxLength.answer) throw new RangeError('the result is too long');
  return json;
}

/**
 * The requests to the main thread. Too many at a time are refused.
 * @param {Send} send
 */
function createRequests(send) {
  /** @type {Map<number, { resolve: (value: unknown) => void, reject: (error: Error) => void }>} */
  const open = new Map();
  let last = 0;
  /** @param {(id: number) => FromThread} message @returns {Promise<unknown>} */
  const request = (message) =>
    new Promise((resolve, reject) => {
      if (open.size >= maxRequests) throw new Error(`more than ${maxRequests} requests at a time`);
      last += 1;
      send(message(last));
      open.set(last, { resolve, reject });
    });
  return {
    request,
    /** A request without a result. @param {(id: number) => FromThread} message */
    notify: (message) => void request(message).catch(() => undefined),
    /** @param {Extract<ToThread, { type: 'done' }>} message */
    settle({ id, value, error }) {
      const waiting = open.get(id);
      open.delete(id);
      if (error === undefined) waiting?.resolve(value);
      else waiting?.reject(Object.assign(new Error(error.message), error));
    },
  };
}

/**
 * @param {Readonly<Record<string, string>>} env
 * @param {ReturnType<typeof createRequests>} requests
 * @returns {import('./plugin.js').PluginContext}
 */
function contextOf(env, { request, notify }) {
  return {
    env,
    log: (level, message) =>
      notify((id) => ({ type: 'log', id, level, message: String(message).slice(0, maxLength.log) })),
    fetch: (url, options = {}) =>
      /** @type {Promise<import('./plugin.js').PluginResponse>} */ (
        request((id) => ({ type: 'fetch', id, call: calls.getStore(), url, request: options }))
      ),
  };
}

/**
 * The class of a thrown value, and where it was thrown. Nothing else of it is read: its message, its name and its properties
 * may contain a secret, and may throw.
 * @param {unknown} thrown
 * @returns {Thrown}
 */
function describeThrown(thrown) {
  /** @type {string[]} */
  let frames = [];
  let kind = /** @type {string} */ (typeof thrown);
  const original = Error.prepareStackTrace;
  try {
    if (!(thrown instanceof Error)) return { kind, frames };
    kind = 'Error';
    // The places come from the engine: the text of a stack begins with the message.
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
    // A getter or a proxy threw. The parts that were read before are enough.
  } finally {
    Error.prepareStackTrace = original;
  }
  return { kind, frames };
}

/** @param {unknown} error */
function messageOf(error) {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'it failed to load';
  }
}
