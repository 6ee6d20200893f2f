import { recordServiceEvent } from '../../audit/events.js';
import type { Config } from '../../config/config.js';
import { type Categories, type CategoriesOptions, startCategories } from '../../notifications/categories/categories.js';
import type { Base } from '../base/base.js';
import { configuredChannels } from './steps.js';
import { unsubscribeUrl } from './unsubscribe.js';

/**
 * The categories of notifications. They are read before the first request.
 * @param interval milliseconds between two reads
 */
export async function createCategories(base: Base, interval: number | undefined): Promise<Categories> {
  const { config, database, lifecycle, log, pacer } = base;
  return lifecycle.add(
    await startCategories({
      database,
      pacer,
      ...categoryRules(config),
      interval,
      onError: (error) => log.warn({ err: error }, 'the categories could not be read; the known ones stay'),
    }),
    (part) => part.stop(),
  );
}

/** What the settings say about categories, and how their changes are recorded. */
export const categoryRules = (
  config: Config,
): Pick<CategoriesOptions, 'types' | 'channels' | 'hasUnsubscribeLinks' | 'app' | 'record'> => ({
  types: config.NOTIFICATION_TYPES,
  channels: configuredChannels(config),
  hasUnsubscribeLinks: unsubscribeUrl(config) !== undefined,
  app: config.APP_NAME,
  record: (tx, origin, changes) => recordServiceEvent(tx, { type: 'categories.changed', origin, data: { ...changes } }),
});
