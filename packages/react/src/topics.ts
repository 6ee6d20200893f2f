import { createTopics, type OwnTopic } from '@postern/client';
import { useMemo } from 'react';
import { usePostern } from './context.js';
import { type Definition, type Query, useQuery } from './query.js';

/** The topics that were read, and where the next page begins. */
interface Shown {
  readonly topics: readonly OwnTopic[];
  readonly cursor: string | null;
}

export interface UseTopicsQuery {
  /** How many topics a page has, 1 to 100. 100 by default. */
  readonly limit?: number | undefined;
  /** Conditions, such as `title:like:chess`. */
  readonly filter?: string | undefined;
}

/** What can be done with topics. These functions reject with a `PosternError`. */
export interface TopicActions {
  readonly join: (key: string) => Promise<void>;
  readonly leave: (key: string) => Promise<void>;
  readonly hasMore: boolean;
  /** Reads the next page. Never rejects. */
  readonly loadMore: () => Promise<void>;
}

/**
 * The topics that the user can join, and those that they are in. To turn off a channel for a topic, use `usePreferences`.
 *
 * @example
 * ```tsx
 * import { usePreferences, useTopics } from '@postern/react';
 *
 * export function Clubs() {
 *   const { data, join, leave } = useTopics();
 *   const { preferences, change } = usePreferences();
 *   return data?.map(({ key, title, is_subscribed }) => {
 *     const isMuted = preferences?.topics[key]?.push === 'off';
 *     return (
 *       <p key={key}>
 *         {title}
 *         <button onClick={() => (is_subscribed ? leave(key) : join(key))}>{is_subscribed ? 'Leave' : 'Join'}</button>
 *         <button onClick={() => change({ topics: { [key]: { push: isMuted ? null : 'off' } } })}>
 *           {isMuted ? 'Push again' : 'No pushes'}
 *         </button>
 *       </p>
 *     );
 *   });
 * }
 * ```
 * @throws UsageError without a provider
 */
export function useTopics({ limit = 100, filter }: UseTopicsQuery = {}): Query<readonly OwnTopic[]> & TopicActions {
  const postern = usePostern();
  const { definition, page } = useMemo(() => {
    const page = async (former: readonly OwnTopic[], at?: { readonly cursor: string }): Promise<Shown> => {
      const { data, page } = await createTopics(postern).list({ limit, filter }).page(at);
      return { topics: [...former, ...data], cursor: page.next_cursor };
    };
    const definition: Definition<Shown> = {
      ...{ name: `topics ${limit} ${filter ?? ''}`, createRead: () => () => page([]), fromSnapshot: () => undefined },
    };
    return { definition, page };
  }, [postern, limit, filter]);
  const { query, source } = useQuery(definition);
  return useMemo(() => {
    const cursor = query.data?.cursor ?? null;
    /** Joins or leaves a topic, and reads the pages that are shown again. */
    const change = async (key: string, action: 'join' | 'leave') => {
      await createTopics(postern)[action](key);
      await source().reload(async (shown) => {
        let next = await page([]);
        while (next.cursor !== null && next.topics.length < (shown?.topics.length ?? 0))
          next = await page(next.topics, { cursor: next.cursor });
        return next;
      });
    };
    const actions: TopicActions = {
      join: (key) => change(key, 'join'),
      leave: (key) => change(key, 'leave'),
      hasMore: cursor !== null,
      loadMore: async () => {
        if (cursor !== null) await source().load((shown) => page(shown?.topics ?? [], { cursor }));
      },
    };
    return query.status === 'ready' ? { ...query, data: query.data.topics, ...actions } : { ...query, ...actions };
  }, [query, source, page, postern]);
}
