import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Category } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { Page, Panel } from '../../components/panel/panel.js';
import { Loaded, Notice, Problem } from '../../components/state/state.js';
import { toast } from '../../components/toast/toasts.js';
import { useDraft } from '../../lib/drafts.js';
import { language } from '../../lib/preferences.js';
import { useStore } from '../../lib/store.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { useIsBuiltIn } from './categories.js';
import styles from './categories.module.css';
import { draftFaults, draftOf, inputOf, templateName } from './draft.js';
import { type Faults, faultsOf } from './faults.js';
import { ReachFields, SchemaField, TextFields } from './fields.js';
import { LimitFields } from './limit-fields.js';
import { Preview } from './preview.js';
import { categoriesKey, categoryQuery, putCategory, titleOf } from './queries.js';
import { RemoveDialog } from './remove-dialog.js';
import { Simulator } from './simulator.js';
import { TemplateFields } from './template-fields.js';

/** One category: all of its fields, and what its messages look like. */
export function CategoryPage() {
  const { name } = useParams({ from: '/categories/$name' });
  const { categories: text } = useText();
  const query = useQuery(categoryQuery(name));
  const breadcrumbs = <Link to="/categories">{text.title}</Link>;
  if (query.data !== undefined) {
    // A new form for each state of the service. Unsaved input stays as a draft.
    const version = JSON.stringify(query.data);
    return <CategoryView key={version} category={query.data} />;
  }
  return (
    <Page title={name} breadcrumbs={breadcrumbs}>
      <Loaded query={query} what={text.oneFailed} rows={8}>
        {() => null}
      </Loaded>
    </Page>
  );
}

function CategoryView({ category }: { category: Category }) {
  const { categories: text } = useText();
  const client = useQueryClient();
  const chosen = useStore(language);
  const isBuiltIn = useIsBuiltIn()(category.name);
  const saved = draftOf(category);
  const [draft, setDraft, forget] = useDraft(`category.${category.name}`, saved);
  const [isRemoving, setIsRemoving] = useState(false);
  const [wasTried, setWasTried] = useState(false);
  const save = useMutation({
    mutationFn: () => putCategory(category.name, inputOf(draft)),
    async onSuccess(next) {
      toast.done(text.saved(next.name));
      forget();
      client.setQueryData(categoryQuery(next.name).queryKey, next);
      await client.invalidateQueries({ queryKey: categoriesKey });
    },
  });
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved);
  const ownFaults = draftFaults(draft, text);
  const hasOwnFaults = Object.keys(ownFaults).length > 0;
  const names = draft.templates.map(templateName);
  const isShown = (field: string) =>
    /^(title|description|defaults)\.|^steps(\.\d+\.(channel|after|if))?$|^ttl$|^(cap|digest)(\.|$)|^data_schema/.test(
      field,
    ) || names.some((name) => field === `templates.${name}` || field.startsWith(`templates.${name}.`));
  const faults = faultsOf(save.error, wasTried ? ownFaults : {}, isShown);
  const change = (next: Partial<typeof draft>) => setDraft({ ...draft, ...next });
  const submit = () => {
    setWasTried(true);
    if (!hasOwnFaults && !save.isPending) save.mutate();
  };
  const props = { draft, faults, onChange: change };
  return (
    <Page
      title={titleOf(category, chosen)}
      breadcrumbs={<Link to="/categories">{text.title}</Link>}
      actions={
        <Button kind="warn" changesData onClick={() => setIsRemoving(true)}>
          {isBuiltIn ? text.reset : text.remove}
        </Button>
      }
    >
      <div className={styles.columns}>
        <form
          className={layout.stack20}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Panel title={text.texts} note={<bdi>{category.name}</bdi>}>
            <TextFields {...props} />
          </Panel>
          <Panel title={text.howItReaches}>
            <ReachFields {...props} />
          </Panel>
          <Panel title={text.limits}>
            <LimitFields {...props} />
          </Panel>
          <Panel title={text.templates}>
            <TemplateFields {...props} />
          </Panel>
          <Panel title={text.schema}>
            <SchemaField {...props} />
          </Panel>
          <SaveProblem error={save.error} faults={faults} />
          <div className={styles.bar}>
            <Button type="submit" kind="main" disabled={!isChanged} busy={save.isPending} changesData>
              {text.save}
            </Button>
            {isChanged && (
              <Button
                onClick={() => {
                  forget();
                  setDraft(saved);
                  setWasTried(false);
                  save.reset();
                }}
              >
                {text.discard}
              </Button>
            )}
          </div>
        </form>
        <div className={layout.stack20}>
          <Preview category={category} isUnsaved={isChanged} />
        </div>
      </div>
      <Simulator category={category} isUnsaved={isChanged} />
      {isRemoving && <RemoveDialog name={category.name} isBuiltIn={isBuiltIn} onClose={() => setIsRemoving(false)} />}
    </Page>
  );
}

/** How many fields have a fault, and the faults that no field shows. */
function SaveProblem({ error, faults: { count, others } }: { error: unknown; faults: Faults }) {
  const { categories: text } = useText();
  if (count === 0) return error === null ? null : <Problem message={text.notSaved} error={error} />;
  return (
    <Notice kind="bad" live>
      {text.notSaved} {others.length === 0 ? text.faults(count) : text.otherFaults}
      {others.length > 0 && (
        <ul className={styles.list}>
          {others.map(({ field = '', message, code }) => (
            <li key={`${field} ${code}`}>
              <bdi>{text.faultAt(field, message)}</bdi>
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}
