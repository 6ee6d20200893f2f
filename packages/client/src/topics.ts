import { coreOf } from './core.js';
import { type List, type ListQuery, listOf } from './lists.js';
import type { Abortable } from './platform.js';
import type { Postern } from './types.js';
import type { OwnTopic } from './wire.js';

/** The topics that the user can join, and those that they are in. */
export interface Topics {
  readonly list: (query?: ListQuery<'created_at' | 'updated_at'>) => List<OwnTopic>;
  /** Joining again changes nothing. If the topic is not open or does not exist, it rejects with `unknown_topic`. */
  readonly join: (key: string, options?: Abortable) => Promise<void>;
  /** The user can leave any topic, and can return only if it is open. */
  readonly leave: (key: string, options?: Abortable) => Promise<void>;
}

/**
 * Lists, joins and leaves topics, such as the clubs of an app: notifications to a topic reach those who are in it. To turn off a channel
 * for a topic, change the preferences.
 *
 * @example
 * ```ts
 * import { createPreferences, createTopics, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const topics = createTopics(postern);
 * for await (const { key, title, is_subscribed } of topics.list()) console.log(key, title, is_subscribed);
 * await topics.join('club.chess');
 * await createPreferences(postern).change({ topics: { 'club.chess': { push: 'off' } } });
 * ```
 * @throws UsageError if the argument is not a client
 */
export function createTopics(postern: Postern): Topics {
  const core = coreOf(postern);
  const change = async (method: 'PUT' | 'DELETE', key: string, { signal }: Abortable = {}) => {
    await core.call({ method, path: `/v1/topics/${encodeURIComponent(key)}/subscription`, signal });
  };
  return {
    list: (query = {}) => listOf(core, '/v1/topics', query),
    join: (key, options) => change('PUT', key, options),
    leave: (key, options) => change('DELETE', key, options),
  };
}
