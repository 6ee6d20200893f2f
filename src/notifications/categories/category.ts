import { isDeepStrictEqual } from 'node:util';
import type { Category, CategoryChanges, CategoryInput } from '../../contract/category.js';

/** The members of a category, with their defaults. */
const defaults: Readonly<Omit<Category, 'name'>> = {
  title: {},
  description: {},
  is_critical: false,
  steps: [{ channel: 'push', after: '0s', if: 'always' }],
  defaults: { inbox: 'on', push: 'on', email: 'on', sms: 'on' },
  cap: null,
  digest: null,
  ttl: null,
  data_schema: null,
  templates: {},
};

/** A category with all of its members. @param input has passed `categoryErrors` */
export function completeCategory(name: string, input: CategoryInput): Category {
  return {
    name,
    title: input.title ?? defaults.title,
    description: input.description ?? defaults.description,
    is_critical: input.is_critical ?? defaults.is_critical,
    steps: input.steps?.map((step) => ({
      channel: step.channel,
      after: step.after ?? '0s',
      if: step.if ?? 'always',
    })) ?? [...defaults.steps],
    defaults: {
      inbox: input.defaults?.inbox ?? defaults.defaults.inbox,
      push: input.defaults?.push ?? defaults.defaults.push,
      email: input.defaults?.email ?? defaults.defaults.email,
      sms: input.defaults?.sms ?? defaults.defaults.sms,
    },
    cap: input.cap
      ? { count: input.cap.count, per: input.cap.per, overflow: input.cap.overflow ?? 'drop' }
      : defaults.cap,
    digest: input.digest ? { every: input.digest.every, max_items: input.digest.max_items ?? 20 } : defaults.digest,
    ttl: input.ttl ?? defaults.ttl,
    data_schema: input.data_schema ?? defaults.data_schema,
    templates: input.templates ?? defaults.templates,
  };
}

/** The category of a notification type, before an operator has changed it. */
export const builtInCategory = (type: string): Category => completeCategory(type, {});

/**
 * All categories by name: the stored ones, and one for each notification type.
 * @param stored no name occurs twice
 */
export function allCategories(stored: readonly Category[], types: readonly string[]): ReadonlyMap<string, Category> {
  const byName = new Map(types.map((type) => [type, builtInCategory(type)]));
  // An older release may have stored the category with fewer members.
  for (const category of stored) byName.set(category.name, completeCategory(category.name, category));
  return new Map([...byName].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The differences between two sets of categories. */
export function changesBetween(
  before: ReadonlyMap<string, Category>,
  after: ReadonlyMap<string, Category>,
): CategoryChanges {
  const changed = [...after.values()].flatMap((category) => {
    const former = before.get(category.name);
    if (former === undefined) return [];
    const members = Object.entries(category).filter(
      ([member, value]) => !isDeepStrictEqual(value, Reflect.get(former, member)),
    );
    return members.length === 0 ? [] : [{ name: category.name, members: members.map(([member]) => member) }];
  });
  return {
    created: [...after.keys()].filter((name) => !before.has(name)),
    changed,
    deleted: [...before.keys()].filter((name) => !after.has(name)),
  };
}
