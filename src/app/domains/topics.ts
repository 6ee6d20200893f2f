import { recordServiceEvent } from '../../audit/events.js';
import type { RequestLimits } from '../../limits/request-limits.js';
import { createTopics, type Topics } from '../../notifications/topics/topics.js';
import { recordCauses } from '../../webhooks/record.js';
import type { Base } from '../base/base.js';

/** Creates the topics, whose changes are audit events and events of webhooks. */
export function createConfiguredTopics(
  { database }: Base,
  { countOwnStates }: Pick<RequestLimits, 'countOwnStates'>,
): Topics {
  return createTopics({
    database,
    countChange: countOwnStates,
    async record(tx, event) {
      await recordServiceEvent(tx, event);
      // Each changed subscription is an event of its user.
      if (event.type === 'topic.subscriptions_changed') return;
      await recordCauses(tx, { type: event.type, actor: event.origin.actor, data: [event.data] });
    },
  });
}
