// A load generator on bare sockets: on a machine with few cores an HTTP client would be measured with the server.
import { connect } from 'node:net';
import { summarise } from './measure.mjs';

const endOfHead = Buffer.from('\r\n\r\n');
const endOfChunks = Buffer.from('\r\n0\r\n\r\n');

/** The bytes of a request. */
export function request(method, url, { body, ...headers } = {}) {
  const { host, pathname, search } = new URL(url);
  const text = body === undefined ? '' : JSON.stringify(body);
  const fields = { host, ...headers, ...(body && { 'content-type': 'application/json' }) };
  if (method !== 'GET') fields['content-length'] = Buffer.byteLength(text);
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${head.join('')}\r\n${text}`);
}

/**
 * Closed loop: every connection always has one running request. This measures the maximum rate of the server. The times
 * do not include requests that would have arrived while the server was slow.
 * @param {{ url: string, next: () => Buffer, connections: number, seconds: number, atLeast?: number, mayRefuse?: boolean }} options
 *   atLeast: the minimum number of requests, even if they take longer than `seconds`;
 *   mayRefuse: a 503 is an answer too, and counted. After a 429, which says that the user's budget is used up, the load
 *   waits as long as the server says. This time is not measured. For one connection
 */
export async function closedLoop({ url, next, connections, seconds, atLeast = 0, mayRefuse = false }) {
  const times = [];
  let refused = 0;
  const since = performance.now();
  let waited = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = await open(url);
      try {
        for (let now = performance.now(); now - since - waited < seconds * 1000 || times.length < atLeast; ) {
          const sentAt = now;
          const answer = await connection.ask(next(), mayRefuse);
          now = performance.now();
          if (statusOf(answer) === 429) {
            await new Promise((resolve) => setTimeout(resolve, retryAfterOf(answer)));
            waited += performance.now() - sentAt;
            now = performance.now();
            continue;
          }
          times.push(now - sentAt);
          if (statusOf(answer) === 503) refused += 1;
        }
      } finally {
        connection.close();
      }
    }),
  );
  return { ...summarise(times, (performance.now() - since - waited) / 1000), refused };
}

/**
 * Open loop: requests arrive at random at this rate, even if the server cannot keep up. The time of each request starts
 * when it arrives, so requests that wait behind a slow one are slow too (no coordinated omission). Up to a millisecond
 * of each time comes from this generator, which wakes every millisecond. If the request has a promise `arrived`, its time
 * ends when this resolves.
 * @param {{ url: string, next: () => Buffer, connections: number, seconds: number, rate: number }} options
 */
export async function openLoop({ url, next, connections, seconds, rate }) {
  const all = await Promise.all(Array.from({ length: connections }, () => open(url)));
  const idle = [...all];
  const waiting = [];
  const times = [];
  const since = performance.now();
  const until = since + seconds * 1000;
  let failure;
  let underWay = 0;
  const answer = async (connection, cameAt) => {
    underWay += 1;
    try {
      const message = next();
      await connection.ask(message);
      await message.arrived;
      times.push(performance.now() - cameAt);
    } catch (error) {
      failure ??= error;
    }
    underWay -= 1;
    const queued = waiting.shift();
    if (queued === undefined) idle.push(connection);
    else answer(connection, queued);
  };
  const pause = () => (-Math.log(1 - Math.random()) * 1000) / rate;
  for (let due = since + pause(); due < until && failure === undefined; ) {
    for (; due <= performance.now() && due < until; due += pause()) {
      // The one that was idle for the longest time: the server closes a connection on which no request comes for ten seconds.
      const connection = idle.shift();
      if (connection === undefined) waiting.push(due);
      else answer(connection, due);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  while (underWay > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const connection of all) connection.close();
  if (failure !== undefined) throw failure;
  return summarise(times, (performance.now() - since) / 1000);
}

/** The head and body of one answer as text, over a separate connection. */
export async function askOnce(url, message) {
  const connection = await open(url);
  try {
    return await connection.ask(message);
  } finally {
    connection.close();
  }
}

/** The statuses with which limits and locks refuse a request. */
const refusals = [423, 429, 503];

/** A persistent connection with one running request at a time. Every answer except success is an error. */
export async function open(url) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  let chunks = [];
  let pending;
  const fail = (error) => pending?.reject(error);
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the connection was closed')));
  await new Promise((resolve, reject) => {
    pending = { reject };
    socket.once('connect', resolve);
  });
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    if (!isWhole(chunks)) return;
    const { resolve, reject, mayRefuse } = pending;
    const message = joined(chunks);
    chunks = [];
    const status = statusOf(message);
    if (status < 300 || status === 304 || (mayRefuse && refusals.includes(status))) resolve(message);
    else reject(new Error(`not a success: ${message}`));
  });
  return {
    ask: (message, mayRefuse = false) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) throw new Error('the connection was closed');
        pending = { resolve, reject, mayRefuse };
        socket.write(message);
      }),
    close() {
      pending = undefined;
      socket.destroy();
    },
  };
}

/** The position of the status in an answer that begins with `HTTP/1.1 200`. */
function statusOf(message) {
  return Number(message.latin1Slice(9, 12));
}

/** The milliseconds after which the server wants the request again. */
function retryAfterOf(message) {
  return Number(/\r\nretry-after: (\d+)/i.exec(message.toString('latin1'))?.[1] ?? 1) * 1000;
}

/** Large answers arrive in many pieces. Joining them for each new piece would be slow. */
function isWhole(chunks) {
  const beginning = joined(chunks.slice(0, 2));
  const head = beginning.indexOf(endOfHead);
  if (head < 0) return false;
  const fields = beginning.latin1Slice(0, head);
  const length = /\r\ncontent-length: (\d+)/i.exec(fields)?.[1];
  const received = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (length !== undefined) return received >= head + endOfHead.length + Number(length);
  if (/\r\ntransfer-encoding: chunked/i.test(fields)) {
    return joined(chunks.slice(-2)).subarray(-endOfChunks.length).equals(endOfChunks);
  }
  return true;
}

function joined(chunks) {
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}
