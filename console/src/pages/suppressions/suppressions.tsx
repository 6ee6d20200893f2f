import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { useList } from '../../api/pages.js';
import { ProblemError } from '../../api/problem.js';
import type {
  CreateSuppressionData,
  DeleteSuppressionData,
  FindSuppressionData,
  GetSuppressionPageData,
  GetSuppressionPageResponse,
  Suppression,
} from '../../api/schema.js';
import { useShortcuts } from '../../app/keyboard.js';
import { useHasScope } from '../../app/operator.js';
import { Button } from '../../components/button/button.js';
import { ConfirmDialog, Dialog, FormDialog } from '../../components/dialog/dialog.js';
import { Field } from '../../components/field/field.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Facts, Page } from '../../components/panel/panel.js';
import { Notice, Problem } from '../../components/state/state.js';
import { ExportMenu } from '../../components/table/export-menu.js';
import { ListPanel } from '../../components/table/list-panel.js';
import type { Column } from '../../components/table/row.js';
import { Id } from '../../components/text/id.js';
import { Time } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './suppressions.module.css';

const suppressionsKey = ['suppressions'] as const;
/** The columns of a CSV file. */
const csvColumns = ['reason', 'created_at', 'id'] as const;
const reasons = [
  'hard_bounce',
  'complaint',
  'soft_bounces',
  'manual',
] as const satisfies readonly Suppression['reason'][];

/** The mail addresses that get no mail except codes. */
export function Suppressions() {
  const { suppressions: text, common } = useText();
  const query = useSearch({ from: '/suppressions' });
  const navigate = useNavigate({ from: '/suppressions' });
  const mayChange = useHasScope()('users:write');
  const [isAdding, setIsAdding] = useState(false);
  const [opened, setOpened] = useState<Suppression>();
  const add = () => setIsAdding(true);
  useShortcuts(mayChange ? [{ keys: 'c', name: text.add, group: 'thisPage', run: add }] : []);
  const reason = reasons.find((each) => each === query.reason);
  const read = (limit: number) => (cursor: string | undefined, signal: AbortSignal) =>
    request<GetSuppressionPageData, GetSuppressionPageResponse>('GET', '/admin/v1/suppressions/page', {
      query: { limit, filter: reason && `reason:${reason}`, cursor },
      signal,
    });
  const list = useList<Suppression, GetSuppressionPageResponse>({
    key: [...suppressionsKey, reason ?? ''],
    read: read(50),
    refreshMs: 15_000,
  });
  const columns: readonly Column<Suppression>[] = [
    { key: 'reason', head: text.reason, size: 'wide', cell: (row) => text.reasons[row.reason] },
    { key: 'created', head: text.created, cell: ({ created_at }) => <Time value={created_at} /> },
    { key: 'id', head: common.id, isHiddenIfNarrow: true, cell: ({ id }) => <Id value={id} short /> },
  ];
  return (
    <Page
      title={text.title}
      actions={
        <>
          <ExportMenu name="suppressions" columns={csvColumns} read={read(100)} />
          {mayChange && (
            <Button kind="main" icon="plus" onClick={add}>
              {text.add}
            </Button>
          )}
        </>
      }
    >
      <Find onFound={setOpened} />
      <FilterBar
        urlQuery={{ reason }}
        onChange={(next) => void navigate({ search: (before) => ({ ...before, ...next }), replace: true })}
        fields={[
          { name: 'reason', label: text.reason, values: reasons.map((each) => [each, text.reasons[each]] as const) },
        ]}
      />
      <ListPanel
        list={list}
        text={text}
        isFiltered={reason !== undefined}
        label={text.title}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={(row) => text.reasons[row.reason]}
        onOpen={setOpened}
        compact={(row) => (
          <div className={layout.stack2}>
            <span>{text.reasons[row.reason]}</span>
            <span className={layout.quiet}>
              {text.created}: <Time value={row.created_at} />
            </span>
          </div>
        )}
      />
      {isAdding && <AddDialog onClose={() => setIsAdding(false)} />}
      {opened !== undefined && (
        <Details suppression={opened} mayChange={mayChange} onClose={() => setOpened(undefined)} />
      )}
    </Page>
  );
}

interface AddressFieldProps {
  readonly hint?: string;
  readonly error: string | undefined;
  readonly value: string;
  readonly onType: (value: string) => void;
}

function AddressField({ onType, ...field }: AddressFieldProps) {
  return (
    <Field
      {...field}
      label={useText().suppressions.findLabel}
      type="email"
      inputMode="email"
      maxLength={320}
      verbatim
      onChange={(event) => onType(event.currentTarget.value)}
    />
  );
}

/** Looks an address up. It is in the body of the request, so that no log contains it. */
function Find({ onFound }: { onFound: (suppression: Suppression) => void }) {
  const { suppressions: text } = useText();
  const [email, setEmail] = useState('');
  const find = useMutation({
    mutationFn: (address: string) =>
      request<FindSuppressionData, Suppression>('POST', '/admin/v1/suppressions/find', {
        body: { email: address },
      }).catch((error: unknown) => {
        if (error instanceof ProblemError && error.status === 404) return null;
        throw error;
      }),
    onSuccess: (found) => found !== null && onFound(found),
  });
  const { data, error, variables = '' } = find;
  const addressError = error instanceof ProblemError ? error.messageFor('email') : undefined;
  return (
    <div className={layout.stack16}>
      <p>{text.about}</p>
      <form
        className={styles.find}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (email.trim() !== '' && !find.isPending) find.mutate(email.trim());
        }}
      >
        <AddressField
          error={addressError}
          value={email}
          onType={(next) => {
            setEmail(next);
            find.reset();
          }}
        />
        <Button type="submit" icon="search" disabled={email.trim() === ''} busy={find.isPending}>
          {text.findAction}
        </Button>
      </form>
      {data === null && (
        <Notice kind="good" live>
          {text.notFound(variables)}
        </Notice>
      )}
      {data != null && (
        <Notice kind="warn" live>
          {text.found(variables, text.reasons[data.reason])}
        </Notice>
      )}
      {error !== null && addressError === undefined && <Problem message={text.notSearched} error={error} />}
    </div>
  );
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const { suppressions: text } = useText();
  const client = useQueryClient();
  const [email, setEmail] = useState('');
  const add = useMutation({
    mutationFn: () =>
      request<CreateSuppressionData, Suppression>('POST', '/admin/v1/suppressions', { body: { email: email.trim() } }),
    async onSuccess() {
      toast.done(text.added(email.trim()));
      onClose();
      await client.invalidateQueries({ queryKey: suppressionsKey });
    },
  });
  const { error } = add;
  const addressError = error instanceof ProblemError ? error.messageFor('email') : undefined;
  const isReady = email.trim() !== '';
  return (
    <FormDialog
      title={text.addTitle}
      action={text.addAction}
      isReady={isReady}
      busy={add.isPending}
      onClose={onClose}
      onSubmit={() => add.mutate()}
    >
      <div className={layout.stack16}>
        <AddressField
          hint={text.addHint}
          error={addressError}
          value={email}
          onType={(next) => {
            setEmail(next);
            add.reset();
          }}
        />
        {error !== null && addressError === undefined && <Problem message={text.notAdded} error={error} />}
      </div>
    </FormDialog>
  );
}

interface DetailsProps {
  readonly suppression: Suppression;
  readonly mayChange: boolean;
  readonly onClose: () => void;
}

/** One suppression, and the question whether to delete it. */
function Details({ suppression: { id, reason, created_at }, mayChange, onClose }: DetailsProps) {
  const { suppressions: text, common } = useText();
  const client = useQueryClient();
  const [isRemoving, setIsRemoving] = useState(false);
  const remove = useMutation({
    mutationFn: () => request<DeleteSuppressionData, void>('DELETE', '/admin/v1/suppressions/{id}', { path: { id } }),
    async onSuccess() {
      toast.done(text.removed);
      onClose();
      await client.invalidateQueries({ queryKey: suppressionsKey });
    },
  });
  if (isRemoving)
    return (
      <ConfirmDialog
        title={text.removeTitle}
        action={text.removeAction}
        isDestructive
        busy={remove.isPending}
        error={remove.error !== null && <Problem message={text.notRemoved} error={remove.error} />}
        onConfirm={() => remove.mutate()}
        onClose={onClose}
      >
        <p>{text.removeWhat}</p>
      </ConfirmDialog>
    );
  return (
    <Dialog
      title={text.reasons[reason]}
      onClose={onClose}
      actions={
        mayChange && (
          <Button kind="warn" changesData onClick={() => setIsRemoving(true)}>
            {text.remove}
          </Button>
        )
      }
    >
      <Facts
        facts={[
          [text.reason, text.reasons[reason]],
          [text.created, <Time key="created" value={created_at} />],
          [common.id, <Id key="id" value={id} />],
        ]}
      />
    </Dialog>
  );
}
