import { type ReactNode, useEffect, useRef } from 'react';
import { ProblemError } from '../../api/problem.js';
import { createStore, useStore } from '../../lib/store.js';
import { useText } from '../../text/text.js';
import { Button } from '../button/button.js';
import { Icon, Spinner } from '../icon/icon.js';
import { useMessageOf } from '../state/state.js';
import { Id } from '../text/id.js';
import styles from './toasts.module.css';

interface ToastContent {
  readonly kind: 'done' | 'failed' | 'progress';
  readonly message: ReactNode;
  /** Why something has not happened. */
  readonly error?: unknown;
  readonly action?: { readonly name: string; readonly run: () => void } | undefined;
  /** For progress: how much of it is done, from 0 to 1. */
  readonly doneRatio?: number | undefined;
}
type Toast = ToastContent & { readonly id: number };

const toasts = createStore<readonly Toast[]>([]);
let lastId = 0;

/** The time in milliseconds for which a message is shown, longer with an action. An error stays until it is closed. */
const durations = { plain: 6000, withAction: 10_000 };

function add(content: ToastContent): number {
  lastId += 1;
  toasts.set([...toasts.get(), { ...content, id: lastId }]);
  return lastId;
}
const remove = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id));

export const toast = {
  /** Shows that an action succeeded. `undo` reverts it. */
  done(message: ReactNode, undo?: { readonly name: string; readonly run: () => void }): void {
    add({ kind: 'done', message, action: undo });
  },
  /** Shows that an action failed, with the reason and the id of the request, until the operator closes it. */
  failed(message: ReactNode, error?: unknown, retry?: { readonly name: string; readonly run: () => void }): void {
    add({ kind: 'failed', message, error, action: retry });
  },
  /** Shows a long action. Call `update` with the part that is done, from 0 to 1, and `end` at the end. */
  progress(message: ReactNode, stop?: { readonly name: string; readonly run: () => void }) {
    const id = add({ kind: 'progress', message, action: stop, doneRatio: 0 });
    return {
      update(doneRatio: number, nextMessage: ReactNode = message) {
        toasts.set(
          toasts.get().map((entry) => (entry.id === id ? { ...entry, doneRatio, message: nextMessage } : entry)),
        );
      },
      end: () => remove(id),
    };
  },
};

/** The messages at the bottom right. One of the few live regions. */
export function Toasts() {
  const shownToasts = useStore(toasts);
  const text = useText();
  return (
    <section className={styles.toasts} aria-label={text.common.messages} aria-live="polite" aria-relevant="additions">
      {shownToasts.map((entry) => (
        <ToastLine key={entry.id} toast={entry} />
      ))}
    </section>
  );
}

function ToastLine({ toast: { id, kind, message, error, action, doneRatio } }: { toast: Toast }) {
  const text = useText();
  const line = useRef<HTMLDivElement>(null);
  const reason = useMessageOf(error);
  const requestId = error instanceof ProblemError ? error.requestId : undefined;
  const hasAction = action !== undefined;
  useEffect(() => {
    if (kind !== 'done') return;
    let timer: ReturnType<typeof setTimeout>;
    const start = () => {
      timer = setTimeout(() => remove(id), hasAction ? durations.withAction : durations.plain);
    };
    const hold = () => clearTimeout(timer);
    const element = line.current;
    start();
    // It stays while the pointer or the focus is on it.
    for (const event of ['pointerenter', 'focusin']) element?.addEventListener(event, hold);
    for (const event of ['pointerleave', 'focusout']) element?.addEventListener(event, start);
    return hold;
  }, [id, kind, hasAction]);
  return (
    <div ref={line} className={styles.toast} role={kind === 'failed' ? 'alert' : undefined}>
      {kind === 'progress' ? (
        <Spinner />
      ) : (
        <Icon
          name={kind === 'done' ? 'circleCheck' : 'circleCross'}
          className={kind === 'done' ? styles.good : styles.bad}
        />
      )}
      <div className={styles.message}>
        <div>
          {message} {error !== undefined && reason}{' '}
          {requestId !== undefined && <Id value={requestId} short name={text.common.request} />}
        </div>
        {doneRatio !== undefined && (
          <progress className={styles.progress} value={doneRatio} aria-label={text.common.progress} />
        )}
      </div>
      {action !== undefined && (
        <Button
          kind="ghost"
          small
          onClick={() => {
            if (kind !== 'progress') remove(id);
            action.run();
          }}
        >
          {action.name}
        </Button>
      )}
      {kind !== 'progress' && (
        <Button kind="ghost" small icon="cross" label={text.common.close} onClick={() => remove(id)} />
      )}
    </div>
  );
}
