import { type ReactNode, useEffect, useRef, useState } from 'react';
import { connection } from '../../api/connection.js';
import { isTemporary, NetworkError, NotConfirmedError, ProblemError } from '../../api/problem.js';
import { cx } from '../../lib/cx.js';
import { useStore } from '../../lib/store.js';
import { useFormats, useText } from '../../text/text.js';
import { Button } from '../button/button.js';
import { Icon, type IconName } from '../icon/icon.js';
import { Id } from '../text/id.js';
import styles from './state.module.css';

/** Grey bars in place of rows, after 300 ms. They have the height of the rows. */
export function Skeleton({ rows = 4, tall = false }: { rows?: number; tall?: boolean }) {
  const text = useText();
  const widths = [88, 64, 92, 48, 76, 58];
  return (
    <div className={styles.skeleton} role="status">
      <span className="hidden-text">{text.common.loading}</span>
      {Array.from({ length: rows }, (_, row) => (
        <svg
          // biome-ignore lint/suspicious/noArrayIndexKey: the bars are all alike
          key={row}
          className={cx(styles.bone, tall && styles.tall)}
          aria-hidden="true"
        >
          <rect width={`${widths[row % widths.length]}%`} height="9" y="0" rx="4" />
        </svg>
      ))}
    </div>
  );
}

/** An empty list: says that there is nothing, why, and what to do next. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.nothing}>{title}</p>
      {children !== undefined && <div className={styles.why}>{children}</div>}
      {action}
    </div>
  );
}

const noticeLooks = {
  bad: 'circleCross',
  warn: 'warning',
  good: 'circleCheck',
  info: 'info',
  locked: 'lock',
} as const satisfies Record<string, IconName>;

/** A note with a coloured background. `live`: it appears while the page is open, so screen readers announce it. */
export function Notice(props: {
  kind: keyof typeof noticeLooks;
  children: ReactNode;
  action?: ReactNode;
  live?: boolean;
}) {
  const { kind, children, action, live = false } = props;
  return (
    <div className={cx(styles.notice, styles[kind])} role={live ? (kind === 'bad' ? 'alert' : 'status') : undefined}>
      <Icon name={noticeLooks[kind]} />
      <div className={styles.noticeText}>{children}</div>
      {action}
    </div>
  );
}

/** Seconds before the next attempt. Each wait is twice as long as the one before. */
const retryDelays = { first: 5, max: 60 };

interface ProblemProps {
  /** The failure, as a sentence: "The list could not be read." */
  readonly message?: string;
  readonly error: unknown;
  /** Reads again. After a temporary problem, this runs automatically after a countdown. */
  readonly onRetry?: () => void;
}

/** An error as text, with the id of the request. */
export function Problem({ message, error, onRetry }: ProblemProps) {
  const text = useText();
  const secondsLeft = useRetry(error, onRetry);
  const isForbidden = error instanceof ProblemError && error.status === 403;
  const requestId = error instanceof ProblemError ? error.requestId : undefined;
  return (
    <div className={styles.problem}>
      <Notice kind={isForbidden ? 'locked' : 'bad'} live>
        {message !== undefined && <>{message} </>}
        {useMessageOf(error)}{' '}
        {secondsLeft !== undefined && <span aria-hidden="true">{text.common.tryingAgainIn(secondsLeft)}</span>}
        {requestId !== undefined && (
          <div>
            <Id value={requestId} short name={text.common.request} />
          </div>
        )}
      </Notice>
      {onRetry !== undefined && !isForbidden && (
        <Button icon="refresh" small onClick={onRetry}>
          {text.common.tryNow}
        </Button>
      )}
    </div>
  );
}

/** The text of an error from the service, or of a failed connection. */
export function useMessageOf(error: unknown): string {
  const text = useText();
  if (error instanceof NetworkError) return text.common.notReachable;
  if (error instanceof ProblemError) return error.message;
  if (error instanceof NotConfirmedError) return text.common.notConfirmed;
  return text.common.unexpected;
}

/** @returns the seconds until the next attempt */
function useRetry(error: unknown, onRetry: (() => void) | undefined): number | undefined {
  const [attempt, setAttempt] = useState(0);
  const [left, setLeft] = useState<number>();
  const isOn = onRetry !== undefined && isTemporary(error);
  const retryAfterSeconds = error instanceof ProblemError ? (error.retryAfter ?? 0) : 0;
  const { reachable } = useStore(connection);
  useEffect(() => {
    if (!isOn) {
      setLeft(undefined);
      return;
    }
    setLeft(Math.max(retryAfterSeconds, Math.min(retryDelays.first * 2 ** attempt, retryDelays.max)));
    const timer = setInterval(() => setLeft((seconds) => Math.max(0, (seconds ?? 1) - 1)), 1000);
    return () => clearInterval(timer);
  }, [isOn, retryAfterSeconds, attempt]);
  const latestRetry = useRef(onRetry);
  latestRetry.current = onRetry;
  const isDue = isOn && left === 0;
  useEffect(() => {
    if (!isDue) return;
    setAttempt((count) => count + 1);
    latestRetry.current?.();
  }, [isDue]);
  // The list is read again anyway as soon as the service answers.
  return isOn && reachable ? left : undefined;
}

/** The bar at the top of the page while there is no connection, or the service cannot use its database. */
export function OfflineStrip() {
  const state = useStore(connection);
  const text = useText();
  const { time } = useFormats();
  const since = state.reachable ? state.noStorageSince : state.since;
  if (since === undefined) return null;
  const sentence = state.reachable ? text.common.noStorageSince : text.common.offlineSince;
  return (
    <div className={styles.strip} role="status">
      <Icon name={state.reachable ? 'warning' : 'offline'} />
      <span>{sentence(time(since.toISOString()))}</span>
    </div>
  );
}

interface LoadedProps<T> {
  readonly query: { readonly data: T | undefined; readonly error: unknown; readonly refetch: () => unknown };
  /** What could not be read, as a sentence. */
  readonly what?: string;
  readonly rows?: number;
  readonly children: (data: T) => ReactNode;
}

/** The data of a query. While it runs for the first time, a skeleton. After a failure, the problem above the old data. */
export function Loaded<T>({ query: { data, error, refetch }, what, rows, children }: LoadedProps<T>) {
  return (
    <>
      {error !== null && !(error instanceof NetworkError && data !== undefined) && (
        <div className={styles.around}>
          <Problem {...(what !== undefined && { message: what })} error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {data !== undefined ? children(data) : error === null && <Skeleton {...(rows !== undefined && { rows })} />}
    </>
  );
}
