import { startTimer } from '../../time.js';
import { isSnoozed } from './apply-states.js';
import type { ItemState, StatefulNotification } from './types.js';

/** The longest time of a timer in milliseconds. */
const maxTimerMs = 2 ** 31 - 1;

/** Starts a timer for a time of the service. It ends a second later, because the clocks of the service and of this device differ. */
export const startTimerAt = (time: number, end: () => void): ReturnType<typeof setTimeout> =>
  startTimer(end, Math.min(maxTimerMs, Math.max(0, time + 1000 - Date.now())));

/** Knows when the snoozes of a user end: the service sends nothing then. `onEnd` is called after one or more have ended. */
export function createSnoozes(onEnd: () => void) {
  let ends = new Map<string, number>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const add = (id: string, { snoozed_until: until }: ItemState) => ends.set(id, Date.parse(until ?? ''));

  function setTimer(): void {
    clearTimeout(timer);
    if (ends.size === 0) return;
    timer = startTimerAt(Math.min(...ends.values()), () => {
      for (const [id, time] of ends) if (time + 1000 <= Date.now()) ends.delete(id);
      setTimer();
      onEnd();
    });
  }

  return {
    /** Forgets what it knew, and begins with the notifications that are snoozed now. */
    begin(snoozed: readonly StatefulNotification[]): void {
      ends = new Map();
      for (const { id, extra } of snoozed) add(id, extra.state);
      setTimer();
    },
    update(states: readonly (ItemState & { readonly id: string })[]): void {
      for (const state of states) {
        if (isSnoozed(state, Date.now())) add(state.id, state);
        else ends.delete(state.id);
      }
      setTimer();
    },
    stop: () => clearTimeout(timer),
  };
}
