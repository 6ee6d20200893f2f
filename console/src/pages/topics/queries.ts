import { queryOptions } from '@tanstack/react-query';
import { request, send } from '../../api/client.js';
import { readLines } from '../../api/ndjson.js';
import type {
  DeleteSubscriptionData,
  DeleteTopicData,
  FindUsersData,
  FindUsersResponse,
  GetTopicData,
  GetTopicPageData,
  GetTopicPageResponse,
  PutSubscriptionData,
  PutTopicData,
  SubscriptionLine,
  SubscriptionResult,
  Topic,
  TopicInput,
} from '../../api/schema.js';
import { filterValue } from '../../lib/filter-value.js';

/** All queries of topics begin with this key, so that a change can read them again. */
export const topicsKey = ['topics'] as const;

/** @param part a part of the title */
export const readTopics =
  (part: string, { isOpen, limit = 50 }: { readonly isOpen?: string | undefined; readonly limit?: number } = {}) =>
  (cursor: string | undefined, signal: AbortSignal) => {
    const conditions = [
      ...(part === '' ? [] : [`title:like:${filterValue(part)}`]),
      ...(isOpen === undefined ? [] : [`is_open:${isOpen}`]),
    ];
    const query = { limit, filter: conditions.join(','), cursor };
    return request<GetTopicPageData, GetTopicPageResponse>('GET', '/admin/v1/topics/page', { query, signal });
  };

export const topicQuery = (key: string) =>
  queryOptions({
    queryKey: [...topicsKey, 'one', key],
    queryFn: ({ signal }) => request<GetTopicData, Topic>('GET', '/admin/v1/topics/{key}', { path: { key }, signal }),
  });

export const putTopic = (key: string, body: TopicInput) =>
  request<PutTopicData, Topic>('PUT', '/admin/v1/topics/{key}', { path: { key }, body });

export const deleteTopic = (key: string) =>
  request<DeleteTopicData, void>('DELETE', '/admin/v1/topics/{key}', { path: { key } });

/** The users who are subscribed to a topic. @param search a part of a name or an address */
export const readSubscribers =
  (key: string, search: string, limit = 50) =>
  (cursor: string | undefined, signal: AbortSignal) =>
    request<FindUsersData, FindUsersResponse>('POST', '/admin/v1/users/find', {
      body: {
        filter: `topic:${key}`,
        limit,
        ...(search !== '' && { search }),
        cursor,
      },
      signal,
    });

export const subscribe = (key: string, user: string) =>
  request<PutSubscriptionData, void>('PUT', '/admin/v1/topics/{key}/subscriptions/{user}', { path: { key, user } });

export const unsubscribe = (key: string, user: string) =>
  request<DeleteSubscriptionData, void>('DELETE', '/admin/v1/topics/{key}/subscriptions/{user}', {
    path: { key, user },
  });

/** Changes subscriptions, as many as there are lines. @returns the result of each line, in the order of the lines */
export async function changeSubscriptions(
  key: string,
  lines: readonly SubscriptionLine[],
): Promise<readonly SubscriptionResult[]> {
  const response = await send('POST', '/admin/v1/topics/{key}/subscriptions', {
    path: { key },
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  });
  const results: SubscriptionResult[] = [];
  for await (const result of readLines<SubscriptionResult>(response)) results.push(result);
  return results;
}
