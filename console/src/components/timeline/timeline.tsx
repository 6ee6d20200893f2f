import type { ReactNode } from 'react';
import { useFormats } from '../../text/text.js';
import { Icon, type IconName } from '../icon/icon.js';
import { Time } from '../text/values.js';
import styles from './timeline.module.css';

/** One event, or several equal events. */
export interface TimelineEntry {
  readonly id: string;
  readonly time: string;
  readonly icon: IconName;
  readonly tone: 'good' | 'warn' | 'bad' | 'idle';
  readonly title: ReactNode;
  readonly detail?: ReactNode;
}

/** Events, newest first, with days as headings. Pass repeated events as one entry, such as "25 refusals in 31 minutes". */
export function Timeline({ entries }: { entries: readonly TimelineEntry[] }) {
  const { day } = useFormats();
  const days = new Map<string, TimelineEntry[]>();
  for (const entry of entries) {
    const heading = day(entry.time);
    days.set(heading, [...(days.get(heading) ?? []), entry]);
  }
  return (
    <div className={styles.timeline}>
      {[...days].map(([heading, dayEntries]) => (
        <section key={heading}>
          <h3 className={styles.day}>{heading}</h3>
          <ol>
            {dayEntries.map((entry) => (
              <li key={entry.id} className={styles.entry}>
                <span className={styles.at}>
                  <Time value={entry.time} isTimeOnly />
                </span>
                <span className={styles[entry.tone]}>
                  <Icon name={entry.icon} />
                </span>
                <div className={styles.description}>
                  <div>{entry.title}</div>
                  {entry.detail !== undefined && <div className={styles.detail}>{entry.detail}</div>}
                </div>
              </li>
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}
