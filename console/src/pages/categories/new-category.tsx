import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ProblemError } from '../../api/problem.js';
import type { Category } from '../../api/schema.js';
import { FormDialog } from '../../components/dialog/dialog.js';
import { Field } from '../../components/field/field.js';
import { Problem } from '../../components/state/state.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { categoriesKey, putCategory } from './queries.js';

interface NewCategoryProps {
  readonly known: readonly Category[];
  readonly onCreated: (name: string) => void;
  readonly onClose: () => void;
}

/** Asks for the name of a category, and creates it with the defaults. Its page has the rest. */
export function NewCategory({ known, onCreated, onClose }: NewCategoryProps) {
  const { categories: text } = useText();
  const client = useQueryClient();
  const [name, setName] = useState('');
  const create = useMutation({
    mutationFn: () => putCategory(name.trim(), {}),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: categoriesKey });
      onClose();
      onCreated(name.trim());
    },
  });
  const { error } = create;
  const exists = known.some((category) => category.name === name.trim());
  const nameError = exists ? text.exists : error instanceof ProblemError ? error.messageFor('name') : undefined;
  const isReady = name.trim() !== '' && !exists;
  return (
    <FormDialog
      title={text.createTitle}
      action={text.createAction}
      isReady={isReady}
      busy={create.isPending}
      onClose={onClose}
      onSubmit={() => create.mutate()}
    >
      <div className={layout.stack16}>
        <Field
          label={text.nameLabel}
          hint={text.nameHint}
          error={nameError}
          value={name}
          maxLength={64}
          verbatim
          onChange={(event) => {
            setName(event.currentTarget.value);
            create.reset();
          }}
        />
        {error !== null && nameError === undefined && <Problem message={text.notCreated} error={error} />}
      </div>
    </FormDialog>
  );
}
