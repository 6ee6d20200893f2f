import { isUtf8 } from 'node:buffer';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errors } from '../../../contract/errors.js';
import { NotificationInput, PublishedLine } from '../../../contract/notification.js';
import { preferredLanguage } from '../../../lib/language.js';
import { Problem, refuseFaults } from '../../../lib/problem.js';
import { maxDeliveries } from '../../../notifications/publish.js';
import {
  type EachPublisher,
  forecastEach,
  type Outcome,
  type Publication,
  publishEach,
} from '../../../notifications/publish-each.js';
import { writtenNumbers } from '../../../notifications/written-numbers.js';
import { createLineReader, type Line } from '../../line-reader.js';
import { parseJson } from '../../plugins/json-body.js';
import { asProblem, problemBody } from '../../plugins/problems.js';
import { validationFaults } from '../../plugins/validation.js';
import type { App } from '../../route.js';
import { endAnswer, nextPiece, type Pause, writeAll } from '../../streams.js';

const maxLineBytes = 64 * 1024;
/** What is committed at a time: little enough to lock users briefly, enough for few commits. */
const chunk = { lines: 500, deliveries: maxDeliveries, bytes: 1024 * 1024 };
/** Milliseconds: after which pause of the sender what is there is committed, and after which either side is given up. */
const patience = { pause: 50, idle: 15_000 };

export const publishedLines = {
  description:
    'For application/x-ndjson: the results, one a line, as their chunk is committed. Read them while you send.',
  content: { 'application/x-ndjson': { schema: PublishedLine } },
};

/** A line that was read: something to publish, or what is wrong with it. */
interface Entry {
  readonly line: number;
  readonly bytes: number;
  readonly read: Publication | Problem;
}

/** Answers a publishing request of lines, of any length, with a line of result for each. */
export function createLinePublisher(
  app: App,
  services: EachPublisher,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  return async (request, reply) => {
    if (request.headers['idempotency-key'] !== undefined) {
      refuseFaults([{ field: 'Idempotency-Key', code: 'not_supported' }]);
    }
    const publish = readDryRun(request.query)
      ? (publications: readonly Publication[]) => forecastEach(services.notifications, publications)
      : (publications: readonly Publication[]) => publishEach(services, publications);
    request.unhurry();
    reply.hijack();
    beginAnswer(reply);
    const last = await answerLines({ request, reply, publish, stop: closing.signal });
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

/** @throws Problem `validation_failed` */
function readDryRun(query: unknown): boolean {
  const { dry_run: dryRun = 'false' } = query as { dry_run?: unknown };
  if (dryRun !== 'true' && dryRun !== 'false') {
    refuseFaults([{ field: 'dry_run', code: 'invalid_choice', params: { allowed: 'true, false' } }]);
  }
  return dryRun === 'true';
}

interface Conversation {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly publish: (publications: readonly Publication[]) => Promise<readonly Result[]>;
  readonly stop: AbortSignal;
}

/** Undefined: it would be made. */
type Result = Outcome | undefined;

/** @returns the last line, which says why the answer ends before the body does; undefined when it ended with it. */
async function answerLines(conversation: Conversation): Promise<PublishedLine | undefined> {
  const { request, reply } = conversation;
  let committed = 0;
  const ended = (problem: Problem): PublishedLine => {
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
      const results = await resultsOf(conversation, entries);
      committed = upTo;
      if (!(await writeAll(reply.raw, results.map(toLine).join(''), patience.idle))) return undefined;
      if (because === 'idle') return ended(new Problem('request_timeout'));
      if (because === 'stopped') return ended(new Problem('shutting_down'));
    }
    return undefined;
  } catch (error) {
    return ended(asProblem(error as Error));
  }
}

interface Chunk {
  readonly entries: readonly Entry[];
  /** The last line that is in it or before it. */
  readonly upTo: number;
  /** Why nothing comes after it, if that is so. */
  readonly because?: Pause;
}

/** The body in chunks. Nothing is read while the caller works on one. */
async function* chunksOf({ request, stop }: Conversation): AsyncGenerator<Chunk> {
  const lines = createLineReader(maxLineBytes);
  let gathered = createGathering();
  let upTo = 0;
  const take = (because?: Pause): Chunk => {
    const { entries } = gathered;
    gathered = createGathering();
    return because === undefined ? { entries, upTo } : { entries, upTo, because };
  };
  for (;;) {
    for (let line = lines.next(); line !== undefined && !stop.aborted; line = lines.next()) {
      const entry = readEntry(request, line);
      if (!gathered.hasRoomFor(entry)) yield take();
      gathered.add(entry);
      upTo = line.number;
    }
    const piece = await nextPiece(request.raw, gathered.entries.length > 0 ? patience.pause : patience.idle, stop);
    if (piece === 'gone') return;
    if (piece === 'end') {
      const line = lines.end();
      const entry = line === undefined ? undefined : readEntry(request, line);
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

/** Entries of one chunk, as long as they fit. An empty line is no entry. */
function createGathering() {
  const entries: Entry[] = [];
  let deliveries = 0;
  let bytes = 0;
  return {
    entries,
    hasRoomFor: (entry: Entry | undefined) =>
      entry === undefined ||
      entries.length === 0 ||
      (entries.length < chunk.lines &&
        deliveries + deliveriesOf(entry) <= chunk.deliveries &&
        bytes + entry.bytes <= chunk.bytes),
    add(entry: Entry | undefined) {
      if (entry === undefined) return;
      entries.push(entry);
      deliveries += deliveriesOf(entry);
      bytes += entry.bytes;
    },
  };
}

function deliveriesOf({ read }: Entry): number {
  return read instanceof Problem ? 0 : (read.input.user_ids?.length ?? 1);
}

/** Undefined for an empty line. The rules are those of a request of its own. */
function readEntry(request: FastifyRequest, { number: line, bytes }: Line): Entry | undefined {
  if (bytes?.length === 0) return undefined;
  try {
    if (bytes === undefined) throw new Problem('payload_too_large');
    if (!isUtf8(bytes)) throw new Problem('malformed_json');
    const text = bytes.toString('utf8');
    const input = parseJson(text);
    const validate = request.compileValidationSchema(NotificationInput, 'body');
    if (!validate(input)) refuseFaults(validationFaults(validate.errors ?? []));
    return { line, bytes: bytes.length, read: { input: input as NotificationInput, number: writtenNumbers(text)[0] } };
  } catch (error) {
    if (error instanceof Problem) return { line, bytes: 0, read: error };
    throw error;
  }
}

/** What came of each entry; the transaction of those that were made is committed by then. */
async function resultsOf({ request, publish }: Conversation, entries: readonly Entry[]): Promise<PublishedLine[]> {
  const publications = entries.flatMap(({ read }) => (read instanceof Problem ? [] : read));
  const results = new Map<Publication | Problem, Result>();
  for (const [index, result] of (await publish(publications)).entries()) {
    const publication = publications[index];
    if (publication !== undefined) results.set(publication, result);
  }
  const language = preferredLanguage(request.headers['accept-language']);
  const refusal = (problem: Problem): Pick<PublishedLine, 'status' | 'errors'> => {
    const { status, errors: faults } = problemBody(problem, request.id, language);
    return { status, errors: faults };
  };
  return entries.map(({ line, read }) => {
    const result = results.get(read);
    if (read instanceof Problem) return { line, ...refusal(read) };
    if (result === undefined) return { line, status: 200 };
    if ('faults' in result) return { line, ...refusal(new Problem('validation_failed', { errors: result.faults })) };
    return read.input.user_ids === undefined
      ? { line, status: 201, id: result.ids[0] ?? '' }
      : { line, status: 201, ids: [...result.ids] };
  });
}

function toLine(line: PublishedLine): string {
  return `${JSON.stringify(line)}\n`;
}
