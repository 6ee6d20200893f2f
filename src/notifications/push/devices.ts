import type { DeliveryReason, PushChannel } from '../../contract/push.js';
import type { Queryable } from '../../database/database.js';

/** A device of a user, and the way to reach it. */
export interface PushDevice {
  readonly user_id: string;
  readonly device_id: string;
  readonly channel: PushChannel;
}

/** What push needs to know of devices and logins. */
export interface PushDevices {
  /** The devices of these users that a push may go to right now, each by one of these channels. */
  reachable(
    handle: Queryable,
    userIds: readonly string[],
    channels: readonly PushChannel[],
  ): Promise<readonly PushDevice[]>;
  /** The token to send to right now, or why there is none to send to. */
  target(
    handle: Queryable,
    device: PushDevice,
  ): Promise<{ readonly token: string } | { readonly unreachable: DeliveryReason }>;
  /** Removes a dead token, unless the device has registered another one meanwhile. */
  forget(handle: Queryable, device: PushDevice, token: string): Promise<void>;
  /** A user's devices as they are now. */
  states(
    handle: Queryable,
    userId: string,
  ): Promise<
    readonly {
      readonly device_id: string;
      readonly channels: readonly PushChannel[];
      readonly unreachable: DeliveryReason | undefined;
      readonly created_at: string;
    }[]
  >;
}
