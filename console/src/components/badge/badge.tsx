import type { ReactNode } from 'react';
import { cx } from '../../lib/cx.js';
import { Icon, type IconName } from '../icon/icon.js';
import styles from './badge.module.css';

/** The icon and the tone of each unusual state, and of each result of a delivery. */
const kinds = {
  until: { icon: 'clock', tone: 'warn' },
  forGood: { icon: 'lock', tone: 'bad' },
  off: { icon: 'ban', tone: 'idle' },
  good: { icon: 'check', tone: 'good' },
  bad: { icon: 'cross', tone: 'bad' },
  waiting: { icon: 'clock', tone: 'warn' },
  muted: { icon: 'ban', tone: 'idle' },
  new: { icon: 'plus', tone: 'accent' },
  running: { icon: 'play', tone: 'accent' },
  paused: { icon: 'pause', tone: 'warn' },
} as const satisfies Record<string, { icon: IconName; tone: string }>;

export type BadgeKind = keyof typeof kinds | 'label';

/** A state as an icon and a word. Normal states need no badge: write them in grey. */
export function Badge({ kind, children }: { kind: BadgeKind; children: ReactNode }) {
  if (kind === 'label') return <span className={cx(styles.badge, styles.label)}>{children}</span>;
  const { icon, tone } = kinds[kind];
  return (
    <span className={cx(styles.badge, styles[tone])}>
      <Icon name={icon} size={12} />
      <span>{children}</span>
    </span>
  );
}

/** A dot in the colour of a state. The word beside it names the state. */
export function Dot({ tone }: { tone: 'good' | 'warn' | 'bad' | 'idle' }) {
  return <span className={cx(styles.dot, styles[`${tone}Dot`])} aria-hidden="true" />;
}
