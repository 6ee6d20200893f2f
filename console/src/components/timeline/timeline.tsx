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

/**
 * Events, newest first or oldest first, with days as headings. Pass repeated events as one entry, such as "25 refusals in 31 minutes".
 *
 * @param zone the time zone of the times. Without it: that of the reader
 */
export function Timeline({ entries, zone }: { entries: readonly TimelineEntry[]; zone?: string }) {
  const { day, inZone } = useFormats();
  const days = new Map<string, TimelineEntry[]>();
  for (const entry of entries) {
    const heading = zone === undefined ? day(entry.time) : inZone(zone, entry.time)[0];
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
                  {zone === undefined ? (
                    <Time value={entry.time} isTimeOnly />
                  ) : (
                    <time dateTime={entry.time}>{inZone(zone, entry.time)[1]}</time>
                  )}
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
