import { cx } from '../../lib/cx.js';
import styles from './plot.module.css';

interface BarProps {
  /** What the bar shows, for screen readers. Leave it out if the text beside the bar says the same. */
  readonly label?: string;
  readonly parts: readonly { readonly tone: 'accent' | 'idle' | 'warn' | 'bad'; readonly value: number }[];
  /** The value of a full bar. The default is the sum of the parts. */
  readonly total?: number;
}

/** One horizontal bar, of one part or of several. */
export function Bar({ label, parts, total }: BarProps) {
  const fullValue = Math.max(total ?? parts.reduce((sum, { value }) => sum + value, 0), 1);
  let from = 0;
  return (
    <svg
      className={styles.bar}
      height="6"
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      <rect className={styles.track} width="100%" height="6" rx="1" />
      {parts.map(({ tone, value }) => {
        const start = from;
        from += value;
        return (
          <rect
            key={tone}
            className={cx(styles[tone], styles.part)}
            x={`${(start / fullValue) * 100}%`}
            width={`${(value / fullValue) * 100}%`}
            height="6"
          />
        );
      })}
    </svg>
  );
}
