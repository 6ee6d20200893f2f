import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react';
import { cx } from '../../lib/cx.js';
import { westernDigits } from '../../lib/digits.js';
import { Icon } from '../icon/icon.js';
import styles from './field.module.css';

const verbatimProps = { autoComplete: 'off', autoCapitalize: 'off', spellCheck: false } as const;

interface FieldText {
  readonly label: string;
  /** Below the field: what it is for, or an example. */
  readonly hint?: ReactNode;
  /** What is wrong with the value. Shown instead of the hint. */
  readonly error?: string | undefined;
}

type InputProps = { id: string; 'aria-describedby': string | undefined; 'aria-invalid': true | undefined };

function FieldFrame({ label, hint, error, children }: FieldText & { children: (wiring: InputProps) => ReactNode }) {
  const id = useId();
  const noteId = `${id}-note`;
  const hasNote = error !== undefined || hint !== undefined;
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': hasNote ? noteId : undefined,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {hasNote && (
        <div id={noteId} className={cx(styles.note, error !== undefined && styles.error)}>
          {error !== undefined && <Icon name="circleCross" size={13} />}
          <span>{error ?? hint}</span>
        </div>
      )}
    </div>
  );
}

interface Verbatim {
  /** The value is a name, an address or a code: the browser corrects and completes nothing. */
  readonly verbatim?: boolean;
}

/** One line of text. */
export function Field(props: FieldText & Verbatim & InputHTMLAttributes<HTMLInputElement>) {
  const { label, hint, error, className, verbatim, ...rest } = props;
  return (
    <FieldFrame {...{ label, hint, error }}>
      {(wiring) => (
        <input
          type="text"
          {...(verbatim && verbatimProps)}
          {...rest}
          {...wiring}
          className={cx(styles.input, className)}
        />
      )}
    </FieldFrame>
  );
}

export function TextArea(props: FieldText & Verbatim & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const { label, hint, error, verbatim, ...rest } = props;
  return (
    <FieldFrame {...{ label, hint, error }}>
      {(wiring) => (
        <textarea
          rows={4}
          {...(verbatim && verbatimProps)}
          {...rest}
          {...wiring}
          className={cx(styles.input, styles.area)}
        />
      )}
    </FieldFrame>
  );
}

interface SelectProps<T extends string> extends FieldText, Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange'> {
  readonly value: T;
  readonly options: readonly (readonly [value: T, name: string])[];
  readonly onChoose: (value: T) => void;
}

/** One of few values. */
export function Select<T extends string>({ label, hint, error, options, onChoose, ...rest }: SelectProps<T>) {
  return (
    <FieldFrame {...{ label, hint, error }}>
      {(wiring) => (
        <select
          {...rest}
          {...wiring}
          className={cx(styles.input, styles.select)}
          onChange={(event) => {
            const chosen = options[event.currentTarget.selectedIndex];
            if (chosen !== undefined) onChoose(chosen[0]);
          }}
        >
          {options.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  );
}

interface CodeFieldProps extends FieldText {
  readonly value: string;
  readonly onChange: (digits: string) => void;
  /** The code has all its digits: submit it. */
  readonly onComplete: (digits: string) => void;
  readonly digits?: number;
  readonly disabled?: boolean;
  readonly hasInitialFocus?: boolean;
}

/** One field for a code of digits of any script. Pasting, autofill and spaces work, and the last digit submits. */
export function CodeField(props: CodeFieldProps) {
  const { label, hint, error, value, onChange, onComplete, digits = 6, disabled, hasInitialFocus } = props;
  /** What an input method composes. To change it would disturb the input method, so its digits are read at its end. */
  const [composed, setComposed] = useState<string>();
  function read(text: string): void {
    const next = westernDigits(text).replace(/\D/g, '').slice(0, digits);
    onChange(next);
    if (next.length === digits && next !== value) onComplete(next);
  }
  return (
    <FieldFrame {...{ label, hint, error }}>
      {(wiring) => (
        <input
          {...wiring}
          className={cx(styles.input, styles.code)}
          inputMode="numeric"
          autoComplete="one-time-code"
          autoCapitalize="off"
          spellCheck={false}
          disabled={disabled}
          autoFocus={hasInitialFocus}
          value={composed ?? grouped(value)}
          onCompositionStart={(event) => setComposed(event.currentTarget.value)}
          onCompositionEnd={(event) => {
            setComposed(undefined);
            read(event.currentTarget.value);
          }}
          onChange={(event) => {
            const { value: text } = event.currentTarget;
            if (composed === undefined) read(text);
            else setComposed(text);
          }}
        />
      )}
    </FieldFrame>
  );
}

const grouped = (code: string) => (code.length > 3 ? `${code.slice(0, 3)} ${code.slice(3)}` : code);

interface CheckboxProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'type'> {
  readonly label: ReactNode;
  /** Only some of the rows that it selects are selected. */
  readonly isPartial?: boolean;
  /** The label is for screen readers only, for example in a table. */
  readonly hidesLabel?: boolean;
}

export function Checkbox({ label, isPartial = false, hidesLabel = false, ...rest }: CheckboxProps) {
  return (
    <label className={cx(styles.tick, hidesLabel && styles.bare)}>
      <input
        {...rest}
        type="checkbox"
        ref={(input) => {
          if (input !== null) input.indeterminate = isPartial;
        }}
      />
      <span className={hidesLabel ? 'hidden-text' : undefined}>{label}</span>
    </label>
  );
}

/** A setting that takes effect at once. */
export function Switch({ label, ...rest }: Omit<CheckboxProps, 'isPartial' | 'hidesLabel'>) {
  return (
    <label className={cx(styles.tick, styles.switch)}>
      <input {...rest} type="checkbox" role="switch" aria-checked={rest.checked} />
      <span>{label}</span>
    </label>
  );
}

interface SegmentsProps<T extends string> {
  /** The name of the choice, for screen readers. */
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, name: ReactNode])[];
  readonly onChoose: (value: T) => void;
}

/** One of two to five values, all visible, such as a span of time. */
export function Segments<T extends string>({ label, value, options, onChoose }: SegmentsProps<T>) {
  const name = useId();
  return (
    <fieldset className={styles.segments}>
      <legend className="hidden-text">{label}</legend>
      {options.map(([option, content]) => (
        <label key={option} className={styles.segment}>
          <input type="radio" name={name} checked={option === value} onChange={() => onChoose(option)} />
          <span>{content}</span>
        </label>
      ))}
    </fieldset>
  );
}
