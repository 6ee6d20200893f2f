import { useEffect, useRef } from 'react';
import type { QuietHours, Weekday } from '../../api/schema.js';
import { Checkbox, Field } from '../../components/field/field.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './quiet-hours.module.css';

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const satisfies readonly Weekday[];

/** What quiet hours are when they are turned on. */
const usualNight: QuietHours = { from: '22:00', until: '07:00' };

interface QuietHoursProps {
  readonly value: QuietHours | null;
  readonly disabled?: boolean;
  readonly onChange: (value: QuietHours | null) => void;
}

/** Whether there are quiet hours, from when until when, and on which days they begin. A time counts when its field is left. */
export function QuietHoursFields({ value, disabled = false, onChange }: QuietHoursProps) {
  const { common: text } = useText();
  // Two fields may be left before the first answer is there.
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  }, [value]);
  const set = (change: Partial<QuietHours>) => {
    latest.current = { ...(latest.current ?? usualNight), ...change };
    onChange(latest.current);
  };
  const days = value?.days ?? weekdays;
  const setDay = (day: Weekday, isIn: boolean) => {
    const next = weekdays.filter((each) => (each === day ? isIn : days.includes(each)));
    const { from, until } = latest.current ?? usualNight;
    latest.current = { from, until, ...(next.length < weekdays.length && { days: next }) };
    onChange(latest.current);
  };
  return (
    <div className={layout.stack8}>
      <Checkbox
        label={text.quietHours}
        checked={value !== null}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked ? usualNight : null)}
      />
      {value !== null && (
        <>
          <div className={styles.times}>
            {(['from', 'until'] as const).map((part) => (
              <Field
                key={`${part} ${value[part]}`}
                type="time"
                label={part === 'from' ? text.quietFrom : text.quietUntil}
                defaultValue={value[part]}
                disabled={disabled}
                onBlur={({ currentTarget: { value: typed } }) => {
                  if (typed !== '' && typed !== latest.current?.[part]) set({ [part]: typed });
                }}
              />
            ))}
          </div>
          <fieldset className={styles.days}>
            <legend>{text.quietDays}</legend>
            {weekdays.map((day) => (
              <Checkbox
                key={day}
                label={text.weekdays[day]}
                checked={days.includes(day)}
                // Quiet hours that never begin are none.
                disabled={disabled || (days.length === 1 && days.includes(day))}
                onChange={(event) => setDay(day, event.currentTarget.checked)}
              />
            ))}
          </fieldset>
        </>
      )}
    </div>
  );
}
