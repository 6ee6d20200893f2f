import type { Core } from '../../core.js';
import { isPosternError, type PosternError } from '../../errors.js';
import { wait } from '../../platform.js';
import { canPass, pauseAfter } from '../live.js';
import type { ItemState, StatefulNotification } from './types.js';

interface Change {
  readonly concerns: (row: StatefulNotification) => boolean;
  readonly values: Partial<ItemState>;
}

/** The changes of the user that Postern has not confirmed yet, on top of its last answer. */
export function createChanges({ core, show }: { readonly core: Pick<Core, 'onError' | 'onResume'>; show(): void }) {
  const pending = new Set<Change>();
  /** One request after the other, so that the last change of a notification is the one that stays. */
  let turn: Promise<unknown> = Promise.resolve();
  let failure: PosternError | null = null;

  /** Retries reading the states. Meanwhile the change is shown, because Postern has accepted it. */
  async function confirm(change: Change, read: () => Promise<unknown>): Promise<void> {
    for (let failures = 0; pending.has(change); failures += 1) {
      try {
        await read();
        return;
      } catch (error) {
        core.onError(error);
        if (!canPass(error)) return;
      }
      await wait(pauseAfter(failures), undefined, core.onResume);
    }
  }

  return {
    /** A row with the changes that are being sent. */
    apply<Row extends StatefulNotification>(row: Row): Row {
      let { state } = row.extra;
      for (const { concerns, values } of pending) if (concerns(row)) state = { ...state, ...values };
      return state === row.extra.state ? row : { ...row, extra: { ...row.extra, state } };
    },
    error: () => failure,
    /** Another user has signed in. */
    clear(): void {
      pending.clear();
      failure = null;
    },
    /**
     * Sends a change after those before it. Never rejects.
     *
     * @param items ids, or a sequence up to which everything is changed
     * @param read reads the states after the change
     */
    async send(
      items: readonly string[] | number,
      values: Partial<ItemState>,
      request: () => Promise<unknown>,
      read: () => Promise<unknown>,
    ): Promise<void> {
      const concerns: Change['concerns'] =
        typeof items === 'number' ? ({ sequence }) => sequence <= items : ({ id }) => items.includes(id);
      const change = { concerns, values };
      pending.add(change);
      failure = null;
      show();
      const isAccepted = turn.then(async () => {
        // Nothing is sent for a user who has signed out meanwhile.
        if (!pending.has(change)) return false;
        try {
          await request();
          return true;
        } catch (error) {
          if (!pending.has(change)) return false;
          if (isPosternError(error)) failure = error;
          else core.onError(error);
          return false;
        }
      });
      turn = isAccepted;
      if (await isAccepted) await confirm(change, read);
      // The request may have taken effect anyway, or another device was faster.
      else if (pending.delete(change)) void read().catch(core.onError);
      pending.delete(change);
      show();
    },
  };
}
