import { recordServiceEvent } from '../../audit/events.js';
import { type Channels, startChannels } from '../../notifications/channels/channels.js';
import type { Base } from '../base/base.js';

/**
 * The channels of notifications. They are read before the first request.
 * @param interval milliseconds between two reads
 */
export async function createChannels(base: Base, interval: number | undefined): Promise<Channels> {
  const { database, lifecycle, log } = base;
  return lifecycle.add(
    await startChannels({
      database,
      record: (tx, origin, { channel, paused, reason }) =>
        recordServiceEvent(tx, {
          type: paused ? 'channel.paused' : 'channel.resumed',
          origin,
          data: { channel, ...(paused && { reason }) },
        }),
      onError: (error) => log.warn({ err: error }, 'the channels could not be read; the known pauses stay'),
      onPaused: ({ name, reason }) =>
        log.error({ channel: name, reason }, 'a channel was paused because of its reports'),
      interval,
    }),
    (part) => part.stop(),
  );
}
