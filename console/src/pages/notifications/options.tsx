import { type KeyboardEvent, type ReactNode, useEffect, useId, useState } from 'react';
import { cx } from '../../lib/cx.js';
import styles from './notifications.module.css';

interface OptionsProps<T> {
  /** The name of the list, for screen readers. */
  readonly label: string;
  /** Empty: the list is closed. */
  readonly options: readonly T[];
  readonly idOf: (option: T) => string;
  readonly onChoose: (option: T) => void;
  readonly children: (option: T) => ReactNode;
}

/**
 * The list of a combobox. The field has the focus all the time.
 *
 * `field` has the attributes of the field, `onKeyDown` returns whether the key was one of the list, and `list` is the list itself.
 */
export function useOptions<T>({ label, options, idOf, onChoose, children }: OptionsProps<T>) {
  const id = useId();
  const [chosen, setChosen] = useState(0);
  const current = options[Math.min(chosen, options.length - 1)];
  const currentId = current === undefined ? undefined : `${id}-${idOf(current)}`;
  useEffect(() => {
    if (currentId !== undefined) document.getElementById(currentId)?.scrollIntoView({ block: 'nearest' });
  }, [currentId]);
  const choose = (option: T) => {
    setChosen(0);
    onChoose(option);
  };
  return {
    restart: () => setChosen(0),
    field: {
      role: 'combobox',
      'aria-expanded': options.length > 0,
      'aria-controls': id,
      'aria-activedescendant': currentId,
      'aria-autocomplete': 'list',
    } as const,
    onKeyDown(event: KeyboardEvent): boolean {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined && options.length > 0) setChosen((chosen + step + options.length) % options.length);
      else if (event.key === 'Enter' && current !== undefined) choose(current);
      else return false;
      event.preventDefault();
      return true;
    },
    list: (
      <div id={id} role="listbox" aria-label={label} className={styles.options} hidden={options.length === 0}>
        {options.map((option, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys act in the field, which keeps the focus
          <div
            key={idOf(option)}
            id={`${id}-${idOf(option)}`}
            role="option"
            tabIndex={-1}
            aria-selected={option === current}
            className={cx(styles.option, option === current && styles.chosen)}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(option)}
            onPointerMove={() => setChosen(index)}
          >
            {children(option)}
          </div>
        ))}
      </div>
    ),
  };
}
