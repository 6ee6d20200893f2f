import type { DryRun } from '../../contract/push.js';
import type { Database } from '../../database/database.js';
import type { WouldBe } from '../publish.js';
import { dryRun } from './dry-run.js';
import { createMutes, type Mutes } from './mutes.js';
import type { PushOptions } from './plan.js';
import { createDeliveryTraces, type DeliveryTraces } from './trace.js';

/** What clients and operators see of push. */
export interface Push {
  readonly mutes: Mutes;
  readonly traces: DeliveryTraces;
  /** The VAPID public key, where Web Push is configured. */
  readonly publicKey: string | undefined;
  /** Who would get these, and where; nothing is written. */
  dryRun(wouldBe: readonly WouldBe[]): Promise<DryRun>;
}

export function createPush(
  options: PushOptions & {
    readonly database: Database;
    readonly publicKey: string | undefined;
  },
): Push {
  const { database, publicKey } = options;
  return {
    mutes: createMutes(database, options.fields),
    traces: createDeliveryTraces(database, options),
    publicKey,
    dryRun: (wouldBe) => dryRun(database, options, wouldBe),
  };
}
