import type { FastifyReply, FastifyRequest } from 'fastify';
import { type NotificationInput, PublishedItem } from '../../../contract/notification.js';
import type { UserReferences } from '../../../identities/user-references.js';
import { preferredLanguage } from '../../../lib/language.js';
import { mapWithPauses, type Pace, type Pacer } from '../../../lib/pacing.js';
import { type FieldError, Problem } from '../../../lib/problem.js';
import { exactNumbers } from '../../../notifications/inbox/exact-numbers.js';
import { countDeliveries, maxDeliveries } from '../../../notifications/publishing/limits.js';
import {
  type EachPublisherOptions,
  type Outcome,
  type PublishItem,
  publishEach,
  validatePublishItems,
} from '../../../notifications/publishing/publish-each.js';
import { createNdjsonHandler } from '../../ndjson/exchange.js';
import type { Entry } from '../../ndjson/items.js';
import { problemBody } from '../../plugins/problems.js';
import { errorsOfFaultyPublication } from '../../requests/faulty-publication.js';
import { withUserIds } from '../../requests/recipients.js';
import type { App } from '../../requests/route.js';

/** The limits of one transaction. The weight of an item is its number of deliveries. */
const chunk = { lines: 500, weight: maxDeliveries, bytes: 1024 * 1024 };

export const publishedItems = {
  description:
    'For application/x-ndjson: one result per line, sent when its transaction has committed. Read the results while you send.',
  content: { 'application/x-ndjson': { schema: PublishedItem } },
};

/** In a dry run, undefined means that the notification would be created. */
type Result = Outcome | undefined;
type Publish = (items: readonly PublishItem[]) => Promise<readonly Result[]>;

/** Handles NDJSON requests that publish: answers with a line of result for each item. */
export function createItemPublisher(
  app: App,
  services: EachPublisherOptions & { readonly pacer: Pacer; readonly userReferences: UserReferences },
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return createNdjsonHandler<PublishItem>(app, services.pacer, (request, { dryRun }) => {
    const publishIdentified: Publish = dryRun
      ? (items) => validatePublishItems(services.notifications, items)
      : (items) => publishEach(services, items);
    const publish: Publish = async (items) => {
      const inputs = await withUserIds(
        services.userReferences,
        items.map(({ input }) => input),
      );
      return publishIdentified(items.map((each, index) => ({ ...each, input: inputs[index] ?? each.input })));
    };
    return {
      chunk,
      toItem: (input, text) => ({ input: input as NotificationInput, exactNumber: exactNumbers(text)[0] }),
      weightOf: ({ input }) => countDeliveries(input),
      keysOf: ({ input }) => replaceKeys(input),
      async process(entries, pace) {
        const complete = await withAllErrors(entries, services);
        return resultsOf(request, publish, complete, pace);
      },
    };
  });
}

/** What a notification replaces: its `replace_key` for each of its users. */
function replaceKeys({ user_id: userId, user_ids: userIds = [], replace_key: key }: NotificationInput): string[] {
  if (key == null) return [];
  const users = userId === undefined ? userIds : [userId, ...userIds];
  return users.map((user) => `${user.toLowerCase()} ${key}`);
}

/**
 * Finds further errors of lines that the schema refuses, such as a user who does not exist, so that the client gets all errors at once. The
 * look-ups are the same for all lines.
 */
async function withAllErrors(
  entries: readonly Entry<PublishItem>[],
  { notifications, userReferences }: Pick<EachPublisherOptions, 'notifications'> & { userReferences: UserReferences },
): Promise<readonly Entry<PublishItem>[]> {
  const formErrors = entries.map(({ parsed, refused }) =>
    refused !== undefined && parsed instanceof Problem ? (parsed.options.errors ?? []) : [],
  );
  if (formErrors.every(({ length }) => length === 0)) return entries;
  const errors = await errorsOfFaultyPublication(
    entries.map((entry, place) => (formErrors[place]?.length === 0 ? undefined : entry.refused)),
    formErrors.flatMap((own, place) => own.map((error) => ({ ...error, field: `${place}.${error.field ?? ''}` }))),
    async (inputs) => notifications.validateEach(await withUserIds(userReferences, inputs), []),
  );
  const meanings = new Map<string, FieldError[]>();
  for (const { field = '', ...error } of errors) {
    const [place = ''] = field.split('.', 1);
    const own = meanings.get(place) ?? [];
    own.push({ ...error, field: field.slice(place.length + 1) });
    meanings.set(place, own);
  }
  return entries.map((entry, place) => {
    const meaning = meanings.get(String(place));
    if (meaning === undefined) return entry;
    const all = [...(formErrors[place] ?? []), ...meaning];
    return { ...entry, parsed: new Problem('validation_failed', { errors: all }) };
  });
}

/** The results of the entries. The transaction of the created notifications has committed by then. */
async function resultsOf(
  request: FastifyRequest,
  publish: Publish,
  entries: readonly Entry<PublishItem>[],
  pace: Pace,
): Promise<PublishedItem[]> {
  const items = entries.flatMap(({ parsed }) => (parsed instanceof Problem ? [] : parsed));
  const results = new Map<PublishItem | Problem, Result>();
  for (const [index, result] of (await publish(items)).entries()) {
    const item = items[index];
    if (item !== undefined) results.set(item, result);
  }
  const language = preferredLanguage(request.headers['accept-language']);
  const refusal = (problem: Problem): Pick<PublishedItem, 'status' | 'errors'> => {
    const { status, errors } = problemBody(problem, request.id, language);
    return { status, errors };
  };
  return mapWithPauses(pace, entries, ({ line, parsed }) => {
    const result = results.get(parsed);
    if (parsed instanceof Problem) return { line, ...refusal(parsed) };
    if (result === undefined) return { line, status: 200 };
    if ('errors' in result) return { line, ...refusal(new Problem('validation_failed', { errors: result.errors })) };
    return parsed.input.user_ids === undefined
      ? { line, status: 201, id: result.ids[0] ?? '' }
      : { line, status: 201, ids: [...result.ids] };
  });
}
