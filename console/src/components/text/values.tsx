import { cx } from '../../lib/cx.js';
import { useFormats, useText } from '../../text/text.js';
import { Button } from '../button/button.js';
import { useCopy } from './id.js';
import styles from './text.module.css';

interface TimeProps {
  readonly at: string | null;
  /** For `null`, in place of a dash. */
  readonly never?: string;
  readonly focusable?: boolean;
  /** Without the day, which a heading says. */
  readonly ofDay?: boolean;
}

/** A time of the service, in local time. Hover and focus show it in UTC with microseconds. */
export function Time({ at, never, focusable = false, ofDay = false }: TimeProps) {
  const { time, clock } = useFormats();
  if (at === null) return <None word={never} />;
  const utc = `${at.replace('T', ' ').replace('Z', '')} UTC`;
  return (
    <time className={styles.time} dateTime={at} title={utc} data-utc={utc} tabIndex={focusable ? 0 : undefined}>
      {ofDay ? clock(at) : time(at)}
    </time>
  );
}

/** A whole number with separators. `scale`: how a large one is shortened, for axes or for figures. */
export function Num({ of, scale = 'exact' }: { of: number | null; scale?: 'exact' | 'axis' | 'figure' }) {
  const formats = useFormats();
  if (of === null) return <None />;
  return <span className={styles.number}>{formats.number(of, scale)}</span>;
}

/** There is no value. */
export function None({ word }: { word?: string | undefined }) {
  const text = useText();
  if (word !== undefined) return <span className={styles.none}>{word}</span>;
  return (
    <span className={styles.none}>
      <span aria-hidden="true">—</span>
      <span className="hidden-text">{text.common.none}</span>
    </span>
  );
}

/** Text of users: any direction, any length. It is cut by the layout, and hover shows all of it. */
export function Cut({ of, strong = false, quiet = false }: { of: string; strong?: boolean; quiet?: boolean }) {
  return (
    <bdi className={cx(styles.cut, strong && styles.strong, quiet && styles.quiet)} title={of}>
      {of}
    </bdi>
  );
}

interface Named {
  readonly id: string;
  readonly name?: string | null;
  readonly username?: string | null;
  readonly email?: string | null;
  readonly phone?: string | null;
}

/** The displayed name of a user: the name, else an identity, else the first characters of the id. */
export function nameOf({ id, name, username, email, phone }: Named): string {
  return [name, username, email, phone].find((value) => value) ?? id.slice(0, 8);
}

/** The first letters of a name. Empty for a name without letters. */
export function Avatar({ name, large = false }: { name: string; large?: boolean }) {
  const words = name.split(/\s+/).filter((word) => /^\p{L}/u.test(word));
  const initials = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '');
  return (
    <span className={cx(styles.avatar, large && styles.large)} aria-hidden="true">
      {initials.join('').toLocaleUpperCase()}
    </span>
  );
}

/** A secret that is shown once, such as a new key, with a button that copies it. */
export function Secret({ label, of, kept }: { label: string; of: string; kept?: React.ReactNode }) {
  const text = useText();
  const [copied, copy] = useCopy();
  return (
    <div className={styles.secret}>
      <span className={styles.secretLabel}>{label}</span>
      <div className={styles.well}>
        <code>{of}</code>
        <Button small icon={copied ? 'check' : 'copy'} onClick={() => copy(of)}>
          {copied ? text.common.copied : text.common.copy}
        </Button>
      </div>
      {kept}
    </div>
  );
}
