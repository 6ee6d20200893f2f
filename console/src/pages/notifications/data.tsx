import { Field, Select, TextArea } from '../../components/field/field.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import type { DataField, TypedData } from './data-fields.js';
import type { DataErrors } from './fields.js';
import styles from './notifications.module.css';

interface DataProps {
  readonly fields: readonly DataField[];
  readonly typed: TypedData;
  readonly errors: DataErrors;
  readonly onChange: (change: TypedData) => void;
}

/** The data of the notification, as the schema of its category describes them. */
export function DataFields({ fields, typed, errors, onChange }: DataProps) {
  const { notifications: text } = useText();
  return (
    <fieldset className={layout.fieldset}>
      <legend className={layout.label}>{text.data}</legend>
      <div className={styles.pair}>
        {fields.map((field) => (
          <DataMember
            key={field.name}
            field={field}
            value={typed[field.name] ?? ''}
            error={errors[field.name]}
            onChange={(value) => onChange({ [field.name]: value })}
          />
        ))}
      </div>
    </fieldset>
  );
}

interface MemberProps {
  readonly field: DataField;
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (value: string) => void;
}

function DataMember({ field: { label: name, hint, type, values, isRequired }, value, error, onChange }: MemberProps) {
  const { notifications: text } = useText();
  const label = isRequired ? name : text.optional(name);
  const shared = { label, hint, error, value };
  if (type === 'choice' || type === 'switch') {
    const options =
      type === 'switch'
        ? ([
            ['true', text.yes],
            ['false', text.no],
          ] as const)
        : values.map((each) => [String(each), String(each)] as const);
    return <Select {...shared} options={[['', '—'], ...options]} onChoose={onChange} />;
  }
  if (type === 'json') {
    return (
      <TextArea
        {...shared}
        hint={hint ?? text.memberHint}
        rows={2}
        spellCheck={false}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <Field
      {...shared}
      autoComplete="off"
      {...(type === 'number' ? { inputMode: 'decimal' as const } : { dir: 'auto' })}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
