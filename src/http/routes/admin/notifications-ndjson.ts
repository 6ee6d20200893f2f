import type { FastifyReply, FastifyRequest } from 'fastify';
import { type NotificationInput, PublishedLine } from '../../../contract/notification.js';
import { preferredLanguage } from '../../../lib/language.js';
import { mapAtPace, type Pace, type Pacer } from '../../../lib/pacing.js';
import { Problem } from '../../../lib/problem.js';
import { maxDeliveries } from '../../../notifications/publish.js';
import {
  type EachPublisher,
  forecastEach,
  type Outcome,
  type Publication,
  publishEach,
} from '../../../notifications/publish-each.js';
import { writtenNumbers } from '../../../notifications/written-numbers.js';
import { createLineHandler } from '../../line-conversation.js';
import type { Entry } from '../../line-entries.js';
import { problemBody } from '../../plugins/problems.js';
import type { App } from '../../route.js';

/** The weight is in deliveries. */
const chunk = { lines: 500, weight: maxDeliveries, bytes: 1024 * 1024 };

export const publishedLines = {
  description:
    'For application/x-ndjson: the results, one a line, as their chunk is committed. Read them while you send.',
  content: { 'application/x-ndjson': { schema: PublishedLine } },
};

/** Undefined: it would be made. */
type Result = Outcome | undefined;
type Publish = (publications: readonly Publication[]) => Promise<readonly Result[]>;

/** Answers a publishing request of lines, of any length, with a line of result for each. */
export function createLinePublisher(
  app: App,
  services: EachPublisher & { readonly pacer: Pacer },
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return createLineHandler<Publication>(app, services.pacer, (request, { dryRun }) => {
    const publish: Publish = dryRun
      ? (publications) => forecastEach(services.notifications, publications)
      : (publications) => publishEach(services, publications);
    return {
      chunk,
      make: (input, text) => ({ input: input as NotificationInput, number: writtenNumbers(text)[0] }),
      weightOf: ({ input }) => input.user_ids?.length ?? 1,
      settle: (entries, pace) => resultsOf(request, publish, entries, pace),
    };
  });
}

/** What came of each entry; the transaction of those that were made is committed by then. */
async function resultsOf(
  request: FastifyRequest,
  publish: Publish,
  entries: readonly Entry<Publication>[],
  pace: Pace,
): Promise<PublishedLine[]> {
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
  return mapAtPace(pace, entries, ({ line, read }) => {
    const result = results.get(read);
    if (read instanceof Problem) return { line, ...refusal(read) };
    if (result === undefined) return { line, status: 200 };
    if ('faults' in result) return { line, ...refusal(new Problem('validation_failed', { errors: result.faults })) };
    return read.input.user_ids === undefined
      ? { line, status: 201, id: result.ids[0] ?? '' }
      : { line, status: 201, ids: [...result.ids] };
  });
}
