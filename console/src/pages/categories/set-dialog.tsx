import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ProblemError } from '../../api/problem.js';
import type { CategoryChanges } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { Dialog } from '../../components/dialog/dialog.js';
import { TextArea } from '../../components/field/field.js';
import { Loaded, Notice, Problem } from '../../components/state/state.js';
import { toast } from '../../components/toast/toasts.js';
import { download } from '../../lib/download.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './categories.module.css';
import { type CategorySet, categoriesKey, readCategories, replaceCategories } from './queries.js';

/** All categories as JSON: to keep them in a repository, and to replace them after a look at the difference. */
export function SetDialog({ onClose }: { onClose: () => void }) {
  const { categories: text } = useText();
  // The state when the dialog was opened: a change of somebody else after it must not be lost.
  const query = useQuery({
    queryKey: ['category set'],
    queryFn: readCategories,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnReconnect: false,
  });
  if (query.data !== undefined) return <SetForm set={query.data} onClose={onClose} />;
  return (
    <Dialog title={text.setTitle} isWide onClose={onClose}>
      <Loaded query={query} what={text.setFailed}>
        {() => null}
      </Loaded>
    </Dialog>
  );
}

function SetForm({ set, onClose }: { set: CategorySet; onClose: () => void }) {
  const { categories: text, common } = useText();
  const client = useQueryClient();
  const [json, setJson] = useState(() => JSON.stringify(set.all, null, 2));
  const compare = useMutation({
    mutationFn: () => replaceCategories(JSON.parse(json), { isDryRun: true, tag: set.tag }),
  });
  const replace = useMutation({
    mutationFn: () => replaceCategories(JSON.parse(json), { isDryRun: false, tag: set.tag }),
    async onSuccess() {
      toast.done(text.replaced);
      onClose();
      await client.invalidateQueries({ queryKey: categoriesKey });
    },
  });
  const change = (next: string) => {
    setJson(next);
    compare.reset();
    replace.reset();
  };
  const isArray = isJsonArray(json);
  const difference = compare.data;
  const isSame = difference !== undefined && Object.values(difference).every((part) => part.length === 0);
  const canReplace = difference !== undefined && !isSame;
  const error = replace.error ?? compare.error;
  return (
    <Dialog
      title={text.setTitle}
      isWide
      onClose={onClose}
      onSubmit={() => {
        if (!isArray || compare.isPending || replace.isPending) return;
        if (canReplace) replace.mutate();
        else compare.mutate();
      }}
      footer={
        <>
          <Button icon="download" onClick={() => download('categories.json', `${json}\n`, 'application/json')}>
            {text.download}
          </Button>
          <Button data-cancel onClick={onClose}>
            {common.cancel}
          </Button>
          {canReplace ? (
            <Button type="submit" kind="danger" busy={replace.isPending} changesData>
              {text.replace}
            </Button>
          ) : (
            <Button type="submit" kind="main" disabled={!isArray} busy={compare.isPending} changesData>
              {text.compare}
            </Button>
          )}
        </>
      }
    >
      <div className={layout.stack16}>
        <label className={layout.quiet}>
          {text.chooseFile}{' '}
          <input
            type="file"
            accept="application/json,.json"
            onChange={(event) => void event.currentTarget.files?.[0]?.text().then(change)}
          />
        </label>
        <div className={styles.code}>
          <TextArea
            label={text.setLabel}
            hint={text.setHint}
            error={isArray ? undefined : text.notArray}
            rows={12}
            value={json}
            spellCheck={false}
            onChange={(event) => change(event.currentTarget.value)}
          />
        </div>
        {isSame && (
          <Notice kind="info" live>
            {text.same}
          </Notice>
        )}
        {canReplace && <Difference changes={difference} />}
        {error !== null && <SetProblem error={error} set={json} isCompared={difference !== undefined} />}
      </div>
    </Dialog>
  );
}

function isJsonArray(json: string): boolean {
  try {
    return Array.isArray(JSON.parse(json));
  } catch {
    return false;
  }
}

/** What the replacement would do. */
function Difference({ changes: { created, changed, deleted } }: { changes: CategoryChanges }) {
  const { categories: text } = useText();
  const lists = [
    [text.wouldCreate, created],
    [text.wouldChange, changed.map(({ name, members }) => `${name} (${members.join(', ')})`)],
    [text.wouldDelete, deleted],
  ] as const;
  return (
    <Notice kind={deleted.length > 0 ? 'warn' : 'info'} live>
      {lists.map(
        ([title, names]) =>
          names.length > 0 && (
            <div key={title}>
              <span className={styles.strong}>{title}</span>
              <ul className={styles.list}>
                {names.map((name) => (
                  <li key={name}>
                    <bdi>{name}</bdi>
                  </li>
                ))}
              </ul>
            </div>
          ),
      )}
    </Notice>
  );
}

/** All faults, each with the name of its category. */
function SetProblem({ error, set, isCompared }: { error: unknown; set: string; isCompared: boolean }) {
  const { categories: text } = useText();
  if (error instanceof ProblemError && error.status === 412)
    return (
      <Notice kind="warn" live>
        {text.changedMeanwhile}
      </Notice>
    );
  if (!(error instanceof ProblemError && error.status === 422))
    return <Problem message={isCompared ? text.notReplaced : text.notCompared} error={error} />;
  const names = (JSON.parse(set) as readonly ({ readonly name?: unknown } | null)[]).map((each) => each?.name);
  const placeOf = (field = '') => field.replace(/^\d+/, (index) => String(names[Number(index)] ?? index));
  return (
    <Notice kind="bad" live>
      {text.notCompared}
      <ul className={styles.list}>
        {error.errors.map(({ field, message, code }) => (
          <li key={`${field} ${code}`}>
            <bdi>{text.faultAt(placeOf(field), message)}</bdi>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
