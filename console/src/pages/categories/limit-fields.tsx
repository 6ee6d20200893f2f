import { Checkbox, Field, Select } from '../../components/field/field.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { weekdays } from '../user/quiet-hours.js';
import styles from './categories.module.css';
import { type DraftCap, type DraftDigest, newCap, newDigest } from './draft.js';
import type { FieldsProps } from './fields.js';

/** The digest and the cap: what brings users fewer messages. */
export function LimitFields({ draft, faults, onChange }: FieldsProps) {
  const { categories: text } = useText();
  const { cap, digest, defaults } = draft;
  /** Without the digest, nothing can refer to it. */
  const removeDigest = () =>
    onChange({
      digest: null,
      cap: cap && { ...cap, overflow: 'drop' },
      defaults: { ...defaults, email: defaults.email === 'digest' ? 'on' : defaults.email },
    });
  return (
    <div className={layout.stack16}>
      {draft.isCritical && <p className={layout.quiet}>{text.limitsCritical}</p>}
      <div>
        <Checkbox
          label={text.hasDigest}
          checked={digest !== null}
          onChange={(event) => (event.currentTarget.checked ? onChange({ digest: newDigest }) : removeDigest())}
        />
        <p className={layout.quiet}>{text.hasDigestHint}</p>
      </div>
      {digest !== null && (
        <DigestFields {...{ digest, faults }} onChange={(change) => onChange({ digest: { ...digest, ...change } })} />
      )}
      <div>
        <Checkbox
          label={text.hasCap}
          checked={cap !== null}
          onChange={(event) => onChange({ cap: event.currentTarget.checked ? newCap : null })}
        />
        <p className={layout.quiet}>{text.hasCapHint}</p>
      </div>
      {cap !== null && (
        <CapFields
          {...{ cap, faults, hasDigest: digest !== null }}
          onChange={(change) => onChange({ cap: { ...cap, ...change } })}
        />
      )}
    </div>
  );
}

type Faults = FieldsProps['faults'];
const plain = { autoComplete: 'off', autoCapitalize: 'off', spellCheck: false } as const;

function DigestFields(props: {
  digest: DraftDigest;
  faults: Faults;
  onChange: (change: Partial<DraftDigest>) => void;
}) {
  const { digest, faults, onChange } = props;
  const { categories: text, common } = useText();
  const error = faults.at('digest.every', 'digest');
  return (
    <fieldset className={styles.item}>
      <legend className="hidden-text">{text.digest}</legend>
      <div className={styles.choices}>
        <Select
          label={text.schedule}
          value={digest.schedule}
          options={(['daily', 'weekly', 'after'] as const).map((each) => [each, text.schedules[each]] as const)}
          onChoose={(schedule) => onChange({ schedule })}
        />
        {digest.schedule === 'weekly' && (
          <Select
            label={text.day}
            value={digest.day}
            options={weekdays.map((day) => [day, common.weekdays[day]] as const)}
            onChoose={(day) => onChange({ day })}
          />
        )}
        {digest.schedule === 'after' ? (
          <Field
            {...plain}
            label={text.digestLength}
            hint={text.digestLengthHint}
            error={error}
            value={digest.length}
            maxLength={10}
            onChange={(event) => onChange({ length: event.currentTarget.value })}
          />
        ) : (
          <Field
            type="time"
            label={text.digestTime}
            hint={text.digestTimeHint}
            error={error}
            value={digest.time}
            onChange={(event) => onChange({ time: event.currentTarget.value })}
          />
        )}
        <Field
          {...plain}
          inputMode="numeric"
          label={text.maxItems}
          hint={text.maxItemsHint}
          error={faults.at('digest.max_items')}
          value={digest.maxItems}
          maxLength={4}
          onChange={(event) => onChange({ maxItems: event.currentTarget.value })}
        />
      </div>
    </fieldset>
  );
}

function CapFields(props: {
  cap: DraftCap;
  faults: Faults;
  hasDigest: boolean;
  onChange: (change: Partial<DraftCap>) => void;
}) {
  const { cap, faults, hasDigest, onChange } = props;
  const { categories: text } = useText();
  return (
    <fieldset className={styles.item}>
      <legend className="hidden-text">{text.cap}</legend>
      <div className={styles.choices}>
        <Field
          {...plain}
          inputMode="numeric"
          label={text.capCount}
          error={faults.at('cap.count', 'cap')}
          value={cap.count}
          maxLength={4}
          onChange={(event) => onChange({ count: event.currentTarget.value })}
        />
        <Field
          {...plain}
          label={text.capPer}
          hint={text.capPerHint}
          error={faults.at('cap.per')}
          value={cap.per}
          maxLength={10}
          onChange={(event) => onChange({ per: event.currentTarget.value })}
        />
        <Select
          label={text.overflow}
          hint={cap.overflow === 'digest' ? text.overflowHint : undefined}
          error={faults.at('cap.overflow')}
          value={cap.overflow}
          options={[
            ['drop', text.overflows.drop],
            ...(hasDigest ? ([['digest', text.overflows.digest]] as const) : []),
          ]}
          onChoose={(overflow) => onChange({ overflow })}
        />
      </div>
    </fieldset>
  );
}
