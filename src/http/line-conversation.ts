import type { FastifyReply, FastifyRequest } from 'fastify';
import { errors } from '../contract/errors.js';
import { mapAtPace, type Pace, type Pacer } from '../lib/pacing.js';
import { type FieldError, Problem, refuseFaults } from '../lib/problem.js';
import { readDryRun } from './dry-run.js';
import { type ChunkSize, createGathering, type Entry, maxLineBytes, readEntry, toLine } from './line-entries.js';
import { createLineReader, type Line } from './line-reader.js';
import type { QueryParameters } from './list-query.js';
import { queryFaults } from './plugins/admin-requests.js';
import { asProblem } from './plugins/problems.js';
import type { App } from './route.js';
import { endAnswer, nextPiece, type Pause, writeAll } from './streams.js';

/** Milliseconds: after which pause of the sender what is there is committed, and after which either side is given up. */
const patience = { pause: 50, idle: 15_000 };

/** What a route makes of the lines of one request. */
export interface LineWork<Item> {
  readonly chunk: ChunkSize;
  make(input: unknown, text: string): Item;
  weightOf(item: Item): number;
  /**
   * @param pace of the conversation, for loops over the entries
   * @returns a line of result for each entry, whose effects are committed by then
   */
  settle(entries: readonly Entry<Item>[], pace: Pace): Promise<readonly object[]>;
}

/** The last line of an answer that ends before the body does. */
interface Ending {
  readonly status: number;
  readonly code: string;
  readonly committed_lines: number;
}

interface Conversation<Item> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly work: LineWork<Item>;
  readonly pace: Pace;
  readonly stop: AbortSignal;
}

/**
 * Answers requests of lines, of any length, with a line of result for each. The memory it takes is bounded by the chunk,
 * whatever is sent; the rest is in [decision 25](../../docs/decisions/0025-lines-in-lines-out.md).
 *
 * @param begin from a request; what it throws is the answer
 */
export function createLineHandler<Item>(
  app: App,
  pacer: Pacer,
  begin: (request: FastifyRequest, options: { readonly dryRun: boolean }) => LineWork<Item>,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  return async (request, reply) => {
    const hasKey = request.headers['idempotency-key'] !== undefined;
    const keyFaults: FieldError[] = hasKey ? [{ field: 'Idempotency-Key', code: 'not_supported' }] : [];
    refuseFaults([...keyFaults, ...queryFaults(request)]);
    const work = begin(request, { dryRun: readDryRun(request.query as QueryParameters) });
    request.unhurry();
    reply.hijack();
    beginAnswer(reply);
    const last = await answerLines({ request, reply, work, pace: pacer.begin(), stop: closing.signal });
    if (last !== undefined) await writeAll(reply.raw, toLine(last), patience.idle);
    endAnswer(request.raw, reply.raw);
  };
}

function beginAnswer(reply: FastifyReply): void {
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8');
  // Before anything is known: who sends slowly wants to know that somebody listens.
  raw.flushHeaders();
}

/** @returns the last line, which says why the answer ends before the body does; undefined when it ended with it. */
async function answerLines<Item>(conversation: Conversation<Item>): Promise<Ending | undefined> {
  const { request, reply, work, pace } = conversation;
  let committed = 0;
  const ended = (problem: Problem): Ending => {
    const { status } = errors[problem.code];
    if (status >= 500)
      request.log.warn(
        { err: problem.options.cause ?? problem, code: problem.code, request_id: request.id },
        'request failed',
      );
    return { status, code: problem.code, committed_lines: committed };
  };
  try {
    for await (const { entries, upTo, because } of chunksOf(conversation)) {
      // The key may have been revoked since the request began, or since the last chunk.
      await request.authorized.recheck?.();
      const results = await work.settle(entries, pace);
      committed = upTo;
      const text = (await mapAtPace(pace, results, toLine)).join('');
      if (!(await writeAll(reply.raw, text, patience.idle))) return undefined;
      if (because === 'idle') return ended(new Problem('request_timeout'));
      if (because === 'stopped') return ended(new Problem('shutting_down'));
    }
    return undefined;
  } catch (error) {
    return ended(asProblem(error as Error));
  }
}

interface Chunk<Item> {
  readonly entries: readonly Entry<Item>[];
  /** The last line that is in it or before it. */
  readonly upTo: number;
  /** Why nothing comes after it, if that is so. */
  readonly because?: Pause;
}

/** The body in chunks. Nothing is read while the caller works on one. */
async function* chunksOf<Item>({ request, work, pace, stop }: Conversation<Item>): AsyncGenerator<Chunk<Item>> {
  const { ndjson = {} } = request.routeOptions.config;
  const validate = request.compileValidationSchema(ndjson, 'body');
  const read = (line: Line) => readEntry(line, validate, work.make);
  const lines = createLineReader(maxLineBytes);
  const gather = () => createGathering(work.chunk, work.weightOf);
  let gathered = gather();
  let upTo = 0;
  const take = (because?: Pause): Chunk<Item> => {
    const { entries } = gathered;
    gathered = gather();
    return because === undefined ? { entries, upTo } : { entries, upTo, because };
  };
  for (;;) {
    for (let line = lines.next(); line !== undefined && !stop.aborted; line = lines.next()) {
      const pause = pace();
      if (pause !== undefined) await pause;
      const entry = read(line);
      if (!gathered.hasRoomFor(entry)) yield take();
      gathered.add(entry);
      upTo = line.number;
    }
    const piece = await nextPiece(request.raw, gathered.entries.length > 0 ? patience.pause : patience.idle, stop);
    if (piece === 'gone') return;
    if (piece === 'end') {
      const line = lines.end();
      const entry = line === undefined ? undefined : read(line);
      if (!gathered.hasRoomFor(entry)) yield take();
      gathered.add(entry);
      upTo = line?.number ?? upTo;
    }
    if (typeof piece !== 'string') lines.feed(piece);
    // A pause of the sender is its end only when there was nothing to commit meanwhile.
    else if (piece === 'idle' && gathered.entries.length > 0) yield take();
    else return yield take(piece);
  }
}
