import { cx } from '../../lib/cx.js';
import { useFormats, useText } from '../../text/text.js';
import { Button } from '../button/button.js';
import { useCopy } from './id.js';
import styles from './text.module.css';

interface TimeProps {
  readonly value: string | null;
  /** The text for `null`. The default is a dash. */
  readonly emptyText?: string;
  readonly focusable?: boolean;
  /** Without the day, because a heading has it. */
  readonly isTimeOnly?: boolean;
  /** Always with the day and the time of day, for example for times in the future. */
  readonly isFull?: boolean;
}

/** A time of the service, in local time. Hover and focus show it in UTC with microseconds. */
export function Time({ value, emptyText, focusable = false, isTimeOnly = false, isFull = false }: TimeProps) {
  const { time, clock, moment } = useFormats();
  const format = isTimeOnly ? clock : isFull ? moment : time;
  if (value === null) return <None word={emptyText} />;
  const utc = `${value.replace('T', ' ').replace('Z', '')} UTC`;
  return (
    <time className={styles.time} dateTime={value} title={utc} data-utc={utc} tabIndex={focusable ? 0 : undefined}>
      {format(value)}
    </time>
  );
}

/** The times in sentences of the service. A split at them has a time as every second part. */
const times = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A sentence of the service as one text, for example for a title. Its times are in UTC, and become local times. */
export function useSentenceText(): (text: string) => string {
  const { moment } = useFormats();
  return (text) =>
    text
      .split(times)
      .map((part, index) => (index % 2 === 0 ? part : moment(part)))
      .join('');
}

/** A sentence of the service. Its times are in UTC, and are shown in local time. */
export function Sentence({ text }: { text: string }) {
  const parts = text.split(times);
  // Every second part is a time.
  // biome-ignore lint/suspicious/noArrayIndexKey: the same time may come twice
  return parts.map((part, index) => (index % 2 === 0 ? part : <Time key={index} value={part} isFull />));
}

/** A whole number with separators. `scale`: how a large one is shortened, for axes or for figures. */
export function Num({ value, scale = 'exact' }: { value: number | null; scale?: 'exact' | 'axis' | 'figure' }) {
  const formats = useFormats();
  if (value === null) return <None />;
  return <span className={styles.number}>{formats.number(value, scale)}</span>;
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

/** Text of users, of any direction and length. The layout cuts it, and hover shows all of it. */
export function UserText({ text, strong = false, quiet = false }: { text: string; strong?: boolean; quiet?: boolean }) {
  return (
    <bdi className={cx(styles.cut, strong && styles.strong, quiet && styles.quiet)} title={text}>
      {text}
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

/** An identity beside the displayed name. Empty: there is no other one. */
export const addressOf = (user: Named): string =>
  [user.email, user.username, user.phone].find((value) => value && value !== nameOf(user)) ?? '';

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
export function Secret({ label, value, note }: { label: string; value: string; note?: React.ReactNode }) {
  const text = useText();
  const [copied, copy] = useCopy();
  return (
    <div className={styles.secret}>
      <span className={styles.secretLabel}>{label}</span>
      <div className={styles.well}>
        <code>{value}</code>
        <Button small icon={copied ? 'check' : 'copy'} onClick={() => copy(value)}>
          {copied ? text.common.copied : text.common.copy}
        </Button>
      </div>
      {note}
    </div>
  );
}
