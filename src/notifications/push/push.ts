import type { DryRun } from '../../contract/push.js';
import type { Database } from '../../database/database.js';
import type { DecideSteps } from '../deliveries/dry-run.js';
import type { PlannedNotification } from '../publishing/publish.js';
import { dryRun } from './dry-run.js';
import { createMutes, type Mutes } from './mutes.js';
import type { PushOptions } from './plan.js';
import { createDeliveryTraces, type DeliveryTraces } from './trace.js';

/** Push as clients and operators see it. */
export interface Push {
  readonly mutes: Mutes;
  readonly traces: DeliveryTraces;
  /** The VAPID public key; undefined when Web Push is not configured. */
  readonly publicKey: string | undefined;
  /** Finds the recipients of these notifications and the recipients' devices, and decides about each step. Writes nothing. */
  dryRun(planned: readonly PlannedNotification[], decideSteps: DecideSteps): Promise<DryRun>;
}

/** Creates the service for mutes, the delivery status and dry runs of pushes. */
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
    dryRun: (planned, decideSteps) => dryRun(database, options, planned, decideSteps),
  };
}
