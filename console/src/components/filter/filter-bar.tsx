import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { useText } from '../../text/text.js';
import { Button } from '../button/button.js';
import { Icon } from '../icon/icon.js';
import { Menu } from '../menu/menu.js';
import styles from './filter.module.css';

/** One field that a list can be filtered by. Its value is a member of the URL's query. */
export interface FilterField {
  /** The member of the URL's query. */
  readonly name: string;
  readonly label: string;
  /** The values to choose from, with their names. If it is missing, the filter is a text field. */
  readonly values?: readonly (readonly [value: string, name: string])[];
  /** The type of the text field. */
  readonly type?: 'text' | 'date' | 'datetime-local';
  readonly placeholder?: string;
}

interface FilterBarProps {
  /** The values of the filters in the URL of the page. */
  readonly urlQuery: Readonly<Record<string, string | undefined>>;
  /** Changes members of the URL; `undefined` removes one. */
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
  readonly fields: readonly FilterField[];
  /** The member of the URL's query for the search box, its label, and whether it has the focus when the page opens. */
  readonly searchBox?: { readonly name: string; readonly label: string; readonly hasInitialFocus?: boolean };
  /** Content at the end of the bar, such as counts or a button. */
  readonly children?: ReactNode;
}

/** One search box, then a chip for each filter that applies, then a list of the others. */
export function FilterBar({ urlQuery, onChange, fields, searchBox, children }: FilterBarProps) {
  const text = useText();
  const [added, setAdded] = useState<string>();
  const activeFields = fields.filter(({ name }) => urlQuery[name] !== undefined || name === added);
  const otherFields = fields.filter((field) => !activeFields.includes(field));
  const hasAny = activeFields.some(({ name }) => urlQuery[name] !== undefined);
  const clear = () => {
    setAdded(undefined);
    onChange(Object.fromEntries(fields.map(({ name }) => [name, undefined])));
  };
  return (
    <search className={styles.bar}>
      {searchBox !== undefined && (
        <SearchBox
          label={searchBox.label}
          value={urlQuery[searchBox.name] ?? ''}
          focused={searchBox.hasInitialFocus === true}
          onChange={(value) => onChange({ [searchBox.name]: value === '' ? undefined : value })}
        />
      )}
      <div className={styles.chips}>
        {activeFields.map((field) => (
          <Chip
            key={field.name}
            field={field}
            value={urlQuery[field.name]}
            isNew={field.name === added}
            onChange={(value) => {
              setAdded(undefined);
              onChange({ [field.name]: value });
            }}
          />
        ))}
        {otherFields.length > 0 && (
          <Menu
            label={text.common.addFilter}
            icon="plus"
            small
            items={otherFields.map(({ name, label }) => ({ name: label, run: () => setAdded(name) }))}
          >
            {text.common.filter}
          </Menu>
        )}
        {hasAny && (
          <Button kind="ghost" small onClick={clear}>
            {text.common.clear}
          </Button>
        )}
        {children !== undefined && <div className={styles.end}>{children}</div>}
      </div>
    </search>
  );
}

interface SearchBoxProps {
  readonly label: string;
  readonly value: string;
  readonly focused?: boolean;
  /** Called 250 ms after the last key, and at once on Enter or when the box loses the focus. */
  readonly onChange: (value: string) => void;
}

/** The search box of a page. `/` goes to it. */
function SearchBox({ label, value, focused = false, onChange }: SearchBoxProps) {
  const [inputText, setInputText] = useState(value);
  const box = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The URL may change by a link or by going back. Text that is being typed stays.
  useEffect(() => {
    if (document.activeElement !== box.current) setInputText(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useInitialFocus(box, focused);
  const apply = (next: string) => {
    clearTimeout(timer.current);
    timer.current = undefined;
    if (next.trim() !== value) onChange(next.trim());
  };
  return (
    <div className={styles.search}>
      <Icon name="search" />
      <input
        ref={box}
        type="search"
        data-search
        aria-label={label}
        placeholder={label}
        value={inputText}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        onChange={(event) => {
          const next = event.currentTarget.value;
          setInputText(next);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => apply(next), 250);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') apply(inputText);
        }}
        // The blur event comes before the click on another element, such as a link. A change of the URL after that
        // click would leave the page that it opened.
        onBlur={() => {
          if (timer.current !== undefined) apply(inputText);
        }}
      />
      <span className={styles.key} aria-hidden="true">
        /
      </span>
    </div>
  );
}

function useInitialFocus(box: RefObject<HTMLInputElement | null>, isWanted: boolean): void {
  useEffect(() => {
    // On a phone the keyboard would cover the list.
    if (isWanted && window.matchMedia('(pointer: fine)').matches) box.current?.focus();
  }, [box, isWanted]);
}

interface ChipProps {
  readonly field: FilterField;
  readonly value: string | undefined;
  readonly isNew: boolean;
  readonly onChange: (value: string | undefined) => void;
}

function Chip({ field, value, isNew, onChange }: ChipProps) {
  const text = useText();
  const id = useId();
  return (
    <span className={styles.chip} data-active={value !== undefined || undefined}>
      <label htmlFor={id}>{field.label}</label>
      {field.values !== undefined ? (
        <select id={id} value={value ?? ''} autoFocus={isNew} onChange={(event) => onChange(event.currentTarget.value)}>
          {value === undefined && <option value="">{text.common.choose}</option>}
          {field.values.map(([option, name]) => (
            <option key={option} value={option}>
              {name}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          type={field.type ?? 'text'}
          defaultValue={value}
          key={value}
          placeholder={field.placeholder}
          autoFocus={isNew}
          onBlur={(event) => {
            const next = event.currentTarget.value.trim();
            if (next !== (value ?? '')) onChange(next === '' ? undefined : next);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') event.currentTarget.blur();
          }}
        />
      )}
      <button type="button" aria-label={text.common.removeFilter(field.label)} onClick={() => onChange(undefined)}>
        <Icon name="cross" size={12} />
      </button>
    </span>
  );
}
