import type { FastifyReply, FastifyRequest } from 'fastify';
import { errors } from '../../contract/errors/problems.js';
import { mapWithPauses, type Pace, type Pacer } from '../../lib/pacing.js';
import { type FieldError, Problem, throwIfErrors } from '../../lib/problem.js';
import type { QueryParameters } from '../lists/list-query.js';
import { queryErrors } from '../plugins/admin-requests.js';
import { asProblem } from '../plugins/problems.js';
import { readDryRun } from '../requests/parameters.js';
import type { App } from '../requests/route.js';
import { endResponse, nextPiece, type ReadEnd, writeAll } from '../requests/streams.js';
import {
  type ChunkSize,
  createChunkBuilder,
  type Entry,
  maxLineBytes,
  readEntry,
  toLine,
  type Validate,
} from './items.js';
import { createLineReader, type Line } from './line-reader.js';

/**
 * Milliseconds without data from the client. After `pause`, the received items are committed. After `idle`, the exchange
 * ends.
 */
const timeoutMs = { pause: 50, idle: 15_000 };

/** How a route processes the items of one request. */
export interface NdjsonWork<Item> {
  readonly chunk: ChunkSize;
  /** A further check of each line. If it is missing, only the schema of the route is checked. */
  checkWith?(validate: Validate): Validate;
  toItem(input: unknown, text: string): Item;
  weightOf(item: Item): number;
  /** Items that share a key are processed one after the other. Without this function, no two items share one. */
  keysOf?(item: Item): readonly string[];
  /**
   * @param pace call it in each loop over the entries: it pauses a loop that takes long
   * @returns a result for each entry, after the effects of the entry are committed
   */
  process(entries: readonly Entry<Item>[], pace: Pace): Promise<readonly object[]>;
}

/** The last line of a response that ends before the body does. */
interface Ending {
  readonly status: number;
  readonly code: string;
  readonly committed_lines: number;
}

interface Exchange<Item> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly work: NdjsonWork<Item>;
  readonly pace: Pace;
  readonly stop: AbortSignal;
}

/**
 * Handles NDJSON requests of any length: answers with a result line for each item. It has at most one chunk in memory
 * (decision 20).
 *
 * @param begin starts the work of a request; its errors are sent as problems
 */
export function createNdjsonHandler<Item>(
  app: App,
  pacer: Pacer,
  begin: (
    request: FastifyRequest,
    options: { readonly dryRun: boolean },
  ) => NdjsonWork<Item> | Promise<NdjsonWork<Item>>,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  return async (request, reply) => {
    const hasIdempotencyKey = request.headers['idempotency-key'] !== undefined;
    const keyErrors: FieldError[] = hasIdempotencyKey ? [{ field: 'Idempotency-Key', code: 'not_supported' }] : [];
    throwIfErrors([...keyErrors, ...queryErrors(request)]);
    const work = await begin(request, { dryRun: readDryRun(request.query as QueryParameters) });
    request.removeReceiveTimeout();
    reply.hijack();
    startResponse(reply);
    const last = await processItems({ request, reply, work, pace: pacer.begin(), stop: closing.signal });
    if (last !== undefined) await writeAll(reply.raw, toLine(last), timeoutMs.idle);
    endResponse(request.raw, reply.raw);
  };
}

function startResponse(reply: FastifyReply): void {
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8');
  // Sent before the first result, so that a slow sender knows that the request was accepted.
  raw.flushHeaders();
}

/** @returns the line that says why the response ends before the body; undefined if the whole body was processed, or if the client is gone */
async function processItems<Item>(exchange: Exchange<Item>): Promise<Ending | undefined> {
  const { request, reply, work, pace } = exchange;
  let committed = 0;
  const endingOf = (problem: Problem): Ending => {
    const { status } = errors[problem.code];
    if (status >= 500)
      request.log.warn(
        { err: problem.options.cause ?? problem, code: problem.code, request_id: request.id },
        'request failed',
      );
    return { status, code: problem.code, committed_lines: committed };
  };
  try {
    for await (const { entries, lastLine, endReason } of chunksOf(exchange)) {
      // The API key may have been revoked since the last check.
      await request.authorized.recheck?.();
      const results = await work.process(entries, pace);
      committed = lastLine;
      const text = (await mapWithPauses(pace, results, toLine)).join('');
      if (!(await writeAll(reply.raw, text, timeoutMs.idle))) return undefined;
      if (endReason === 'idle') return endingOf(new Problem('request_timeout'));
      if (endReason === 'stopped') return endingOf(new Problem('shutting_down'));
    }
    return undefined;
  } catch (error) {
    return endingOf(asProblem(error as Error));
  }
}

interface Chunk<Item> {
  readonly entries: readonly Entry<Item>[];
  /** The number of the last line that is in this chunk or before it. */
  readonly lastLine: number;
  /** The reason why no chunk follows, if none does. */
  readonly endReason?: ReadEnd;
}

/** The body in chunks. Nothing is read while the caller processes a chunk. */
async function* chunksOf<Item>({ request, work, pace, stop }: Exchange<Item>): AsyncGenerator<Chunk<Item>> {
  const { ndjson = {} } = request.routeOptions.config;
  const compiled = request.compileValidationSchema(ndjson, 'body');
  const validate = work.checkWith?.(compiled) ?? compiled;
  const read = (line: Line) => readEntry(line, validate, work.toItem);
  const lines = createLineReader(maxLineBytes);
  const newChunk = () => createChunkBuilder(work.chunk, work.weightOf, work.keysOf);
  let chunk = newChunk();
  let lastLine = 0;
  const take = (endReason?: ReadEnd): Chunk<Item> => {
    const { entries } = chunk;
    chunk = newChunk();
    return endReason === undefined ? { entries, lastLine } : { entries, lastLine, endReason };
  };
  for (;;) {
    for (let line = lines.next(); line !== undefined && !stop.aborted; line = lines.next()) {
      const turn = pace();
      if (turn !== undefined) await turn;
      const entry = read(line);
      if (!chunk.hasRoomFor(entry)) yield take();
      chunk.add(entry);
      lastLine = line.number;
    }
    const piece = await nextPiece(request.raw, chunk.entries.length > 0 ? timeoutMs.pause : timeoutMs.idle, stop);
    if (piece === 'gone') return;
    if (piece === 'end') {
      const line = lines.end();
      const entry = line === undefined ? undefined : read(line);
      if (!chunk.hasRoomFor(entry)) yield take();
      chunk.add(entry);
      lastLine = line?.number ?? lastLine;
    }
    if (typeof piece !== 'string') {
      lines.feed(piece);
    } else if (piece === 'idle' && chunk.entries.length > 0) {
      // A pause of the sender ends the exchange only if there is nothing to commit.
      yield take();
    } else {
      return yield take(piece);
    }
  }
}
