import { useState } from 'react';
import type { Category } from '../../api/schema.js';
import { Badge } from '../../components/badge/badge.js';
import { Field } from '../../components/field/field.js';
import { UserText } from '../../components/text/values.js';
import { language } from '../../lib/preferences.js';
import { useStore } from '../../lib/store.js';
import { useText } from '../../text/text.js';
import { titleOf } from '../categories/queries.js';
import { stepsText } from '../categories/steps-text.js';
import styles from './notifications.module.css';
import { useOptions } from './options.js';

interface CategoryFieldProps {
  /** What is typed. Empty: the category of the type. */
  readonly value: string;
  readonly categories: readonly Category[] | undefined;
  /** The category that the notification is in, if it is known. */
  readonly category: Category | undefined;
  readonly error: string | undefined;
  readonly onChange: (name: string) => void;
}

/** Chooses a category by its name or title, and says on which channels it reaches users. */
export function CategoryField({ value, categories = [], category, error, onChange }: CategoryFieldProps) {
  const { notifications: text, categories: words } = useText();
  const chosen = useStore(language);
  const [isOpen, setOpen] = useState(false);
  /** Nothing was typed since the list opened: it shows all. */
  const [isWhole, setWhole] = useState(true);
  const open = () => {
    setOpen(true);
    setWhole(true);
  };
  const part = isWhole ? '' : value.trim().toLocaleLowerCase();
  const matches = (each: Category) => `${each.name} ${titleOf(each, chosen)}`.toLocaleLowerCase().includes(part);
  const { field, list, onKeyDown, restart } = useOptions<Category>({
    ...{ label: words.title, options: isOpen ? categories.filter(matches) : [], idOf: ({ name }) => name },
    onChoose({ name }) {
      onChange(name);
      setOpen(false);
    },
    children: (each) => (
      <>
        <UserText text={titleOf(each, chosen)} />
        {each.is_critical && <Badge kind="label">{words.critical}</Badge>}
        <UserText quiet text={stepsText(each, words)} />
      </>
    ),
  });
  return (
    <div className={styles.picker}>
      <Field
        {...field}
        label={text.category}
        placeholder={value === '' ? category?.name : undefined}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={value}
        error={error}
        hint={category === undefined ? text.categoryHint : text.categoryReaches(stepsText(category, words))}
        onClick={open}
        onBlur={() => setOpen(false)}
        onChange={(event) => {
          onChange(event.currentTarget.value);
          setOpen(true);
          setWhole(false);
          restart();
        }}
        onKeyDown={(event) => {
          if (!isOpen && event.key === 'ArrowDown') {
            event.preventDefault();
            open();
          } else if (isOpen && event.key === 'Escape') {
            event.preventDefault();
            event.stopPropagation();
            setOpen(false);
          } else onKeyDown(event);
        }}
      />
      {list}
    </div>
  );
}
