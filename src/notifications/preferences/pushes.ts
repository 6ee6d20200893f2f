import { sql } from '../../database/sql.js';
import type { ChannelChoice, StepFacts } from '../deliveries/decide.js';

/** What a user has chosen about pushes. */
export interface PushChoices {
  readonly channel: ChannelChoice | null;
  /** The choices by category; null: none. */
  readonly categories: Readonly<Record<string, ChannelChoice>> | null;
}

/** SQL: the `PushChoices` of a row of `preferences`. */
export const pushChoices = sql`
  jsonb_build_object(
    'channel', channels -> 'push' -> 'value',
    'categories', (select jsonb_object_agg(name, cells -> 'push' -> 'value')
                   from jsonb_each(categories) as category (name, cells) where cells ? 'push'))`;

/** @param choices null or undefined: the user has chosen nothing */
export function chosenFor(choices: PushChoices | null | undefined, category: string): StepFacts['chosen'] {
  const own = choices?.categories;
  return {
    channel: choices?.channel ?? undefined,
    category: own && Object.hasOwn(own, category) ? own[category] : undefined,
  };
}
