import type { Core } from '../core.js';
import type { SettledAuthState } from '../types.js';

/** A hold of the next login. */
export interface LoginHold {
  /** Whether somebody has logged in without the knowledge of the client's listeners. */
  readonly isWithheld: () => boolean;
  /** Tells the listeners. */
  readonly release: () => void;
}

/**
 * Hides the next login from the listeners until it is released, so that the user can answer a question before the app continues. Requests
 * already use the login. A logout ends the hold, and reaches the listeners.
 */
export function holdLogin({ held }: Core): LoginHold {
  const { show, state } = held;
  let isHolding = true;
  let withheld: SettledAuthState | undefined;
  const withhold: typeof show = (next, onDone) => {
    if (isHolding && next.status === 'signed_in' && state.current.status === 'signed_out') {
      withheld = next;
      return onDone?.();
    }
    const wasWithheld = withheld !== undefined;
    withheld = undefined;
    if (wasWithheld) state.set(next, onDone);
    else show(next, onDone);
  };
  held.show = withhold;
  return {
    isWithheld: () => withheld !== undefined,
    release() {
      isHolding = false;
      // A hold that began later stays.
      if (held.show === withhold) held.show = show;
      const next = withheld;
      withheld = undefined;
      if (next !== undefined) state.set(next);
    },
  };
}
