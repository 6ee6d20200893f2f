import { type ReactNode, useState } from 'react';
import { Field } from '../../components/field/field.js';
import styles from './notifications.module.css';
import { useOptions } from './options.js';

/** What was typed since the list of a field with options was opened. */
export function useTypedPart(value: string) {
  const [isOpen, setIsOpen] = useState(false);
  /** Nothing was typed since the list opened: it shows all. */
  const [isWhole, setIsWhole] = useState(true);
  return {
    isOpen,
    part: isWhole ? '' : value.trim(),
    open() {
      setIsOpen(true);
      setIsWhole(true);
    },
    type() {
      setIsOpen(true);
      setIsWhole(false);
    },
    close: () => setIsOpen(false),
  };
}

interface OptionsFieldProps<T> {
  readonly label: string;
  /** The name of the list, for screen readers. */
  readonly listLabel: string;
  readonly value: string;
  readonly typed: ReturnType<typeof useTypedPart>;
  /** Those that match what was typed. */
  readonly options: readonly T[];
  /** What the field has after the option was chosen. No two options have the same. */
  readonly valueOf: (option: T) => string;
  readonly onChange: (value: string) => void;
  readonly hint?: ReactNode;
  readonly error: string | undefined;
  readonly placeholder?: string | undefined;
  readonly children: (option: T) => ReactNode;
}

/** A field that takes any text, and shows options for it in a list that opens below. */
export function OptionsField<T>(props: OptionsFieldProps<T>) {
  const { listLabel, value, typed, options, valueOf: textOf, onChange, children, ...shown } = props;
  const { isOpen, open, type, close } = typed;
  const { field, list, onKeyDown, restart } = useOptions<T>({
    label: listLabel,
    options: isOpen ? options : [],
    idOf: textOf,
    children,
    onChoose(option) {
      onChange(textOf(option));
      close();
    },
  });
  return (
    <div className={styles.picker}>
      <Field
        {...field}
        {...shown}
        verbatim
        value={value}
        onClick={open}
        onBlur={close}
        onChange={(event) => {
          onChange(event.currentTarget.value);
          type();
          restart();
        }}
        onKeyDown={(event) => {
          if (!isOpen && event.key === 'ArrowDown') {
            event.preventDefault();
            open();
          } else if (isOpen && event.key === 'Escape') {
            event.preventDefault();
            event.stopPropagation();
            close();
          } else onKeyDown(event);
        }}
      />
      {list}
    </div>
  );
}
