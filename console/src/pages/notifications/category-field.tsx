import type { Category } from '../../api/schema.js';
import { Badge } from '../../components/badge/badge.js';
import { UserText } from '../../components/text/values.js';
import { language } from '../../lib/preferences.js';
import { useStore } from '../../lib/store.js';
import { useText } from '../../text/text.js';
import { titleOf } from '../categories/queries.js';
import { stepsText } from '../categories/steps-text.js';
import { OptionsField, useTypedPart } from './options-field.js';

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
  const typed = useTypedPart(value);
  const part = typed.part.toLocaleLowerCase();
  const matches = (each: Category) => `${each.name} ${titleOf(each, chosen)}`.toLocaleLowerCase().includes(part);
  return (
    <OptionsField<Category>
      {...{ value, typed, error, onChange }}
      label={text.category}
      listLabel={words.title}
      options={categories.filter(matches)}
      valueOf={({ name }) => name}
      placeholder={value === '' ? category?.name : undefined}
      hint={category === undefined ? text.categoryHint : text.categoryReaches(stepsText(category, words))}
    >
      {(each) => (
        <>
          <UserText text={titleOf(each, chosen)} />
          {each.is_critical && <Badge kind="label">{words.critical}</Badge>}
          <UserText quiet text={stepsText(each, words)} />
        </>
      )}
    </OptionsField>
  );
}
