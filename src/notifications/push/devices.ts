import type { DeliveryReason, PushChannel } from '../../contract/push.js';
import type { Queryable } from '../../database/database.js';

/** A device of a user, and the channel that reaches it. */
export interface PushDevice {
  readonly user_id: string;
  readonly device_id: string;
  readonly channel: PushChannel;
}

/** The token of a device, and the language and name of its user. */
export interface PushTarget {
  readonly token: string;
  /** Milliseconds of Unix time. The device has registered the token, or changed itself, last at this time. */
  readonly registeredAt: number;
  readonly locale: string | null;
  readonly name: string;
  /** The proven addresses of the user. */
  readonly proven: readonly string[];
}

/** Queries on devices and logins that push needs. The composition root implements them. */
export interface PushDevices {
  /** The devices of these users that can get pushes now, each with one of these channels. */
  reachable(
    handle: Queryable,
    userIds: readonly string[],
    channels: readonly PushChannel[],
  ): Promise<readonly PushDevice[]>;
  /** The token of a device now, or why the device cannot be reached. */
  target(handle: Queryable, device: PushDevice): Promise<PushTarget | { readonly unreachable: DeliveryReason }>;
  /** Removes an invalid token, unless the device has registered another one in the meantime. */
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
