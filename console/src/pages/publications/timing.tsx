import { Field, Segments, Select } from '../../components/field/field.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import type { Faults } from './faults.js';
import { type PublicationForm, sendAtOf } from './form.js';
import styles from './publications.module.css';
import { zones } from './zoned-time.js';

interface TimingProps {
  readonly form: PublicationForm;
  readonly missing: { readonly sendAt?: string | undefined; readonly rate?: string | undefined };
  readonly faults: Faults;
  readonly onChange: (change: Partial<PublicationForm>) => void;
}

/** When it starts, and how fast it goes. */
export function Timing({ form, missing, faults, onChange }: TimingProps) {
  const { publications: text } = useText();
  const { moment } = useFormats();
  const sendAt = sendAtOf(form);
  const timeError = missing.sendAt ?? faults.sendAt;
  return (
    <div className={styles.target}>
      <div className={styles.head}>
        <span className={layout.label}>{text.when}</span>
        <Segments
          label={text.when}
          value={form.isLater ? 'later' : 'now'}
          options={[
            ['now', text.now],
            ['later', text.later],
          ]}
          onChoose={(chosen) => onChange({ isLater: chosen === 'later' })}
        />
      </div>
      <div className={styles.when}>
        {form.isLater && (
          <>
            <Field
              type="datetime-local"
              label={text.time}
              value={form.wallTime}
              error={timeError}
              hint={typeof sendAt === 'string' ? text.yourTime(moment(sendAt)) : undefined}
              onChange={(event) => onChange({ wallTime: event.currentTarget.value })}
            />
            <Select
              label={text.zone}
              value={form.zone}
              options={zones().map((zone) => [zone, zone.replaceAll('_', ' ')] as const)}
              onChoose={(zone) => onChange({ zone })}
            />
          </>
        )}
        <Field
          label={text.rate}
          hint={text.rateHint}
          inputMode="numeric"
          autoComplete="off"
          value={form.rate}
          error={missing.rate ?? faults.rate}
          onChange={(event) => onChange({ rate: event.currentTarget.value })}
        />
      </div>
    </div>
  );
}
