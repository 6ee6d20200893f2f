import { sql } from '../../database/sql.js';
import type { ChannelChoice, StepFacts } from '../deliveries/decide.js';

/** What a user has chosen about pushes. */
export interface PushChoices {
  readonly channel: ChannelChoice | null;
  /** The choices by category; null: none. */
  readonly categories: Readonly<Record<string, ChannelChoice>> | null;
  /** The choices by topic; null: none. */
  readonly topics: Readonly<Record<string, ChannelChoice>> | null;
}

/** SQL: the `PushChoices` of a row of `preferences`. */
export const pushChoices = sql`
  jsonb_build_object(
    'channel', channels -> 'push' -> 'value',
    'categories', (select jsonb_object_agg(name, cells -> 'push' -> 'value')
                   from jsonb_each(categories) as category (name, cells) where cells ? 'push'),
    'topics', (select jsonb_object_agg(key, cells -> 'push' -> 'value')
               from jsonb_each(topics) as topic (key, cells) where cells ? 'push'))`;

/** @param choices null or undefined: the user has chosen nothing */
export function chosenFor(
  choices: PushChoices | null | undefined,
  { category, topic }: { readonly category: string; readonly topic: string | null },
): StepFacts['chosen'] {
  return {
    channel: choices?.channel ?? undefined,
    topic: topic === null ? undefined : choiceIn(choices?.topics, topic),
    category: choiceIn(choices?.categories, category),
  };
}

const choiceIn = (own: Readonly<Record<string, ChannelChoice>> | null | undefined, name: string) =>
  own && Object.hasOwn(own, name) ? own[name] : undefined;
