import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ProblemError } from '../../api/problem.js';
import type { Publication, PublicationChange } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { Facts, Page, Panel } from '../../components/panel/panel.js';
import { Loaded, Notice, Problem } from '../../components/state/state.js';
import { Id } from '../../components/text/id.js';
import { None, Num, Time, UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import { Preview } from '../notifications/preview.js';
import { Compose } from './compose.js';
import { formOf } from './form.js';
import styles from './publications.module.css';
import {
  changePublication,
  type Move,
  movePublication,
  publicationQuery,
  publicationsKey,
  type TaggedPublication,
} from './queries.js';
import { descriptionOf, Status, useTargetText } from './status.js';

/** One publication: its progress as it happens, and what can be done with it. */
export function PublicationPage() {
  const { id } = useParams({ from: '/publications/$id' });
  const { view } = useSearch({ from: '/publications/$id' });
  const navigate = useNavigate({ from: '/publications/$id' });
  const { publications: text } = useText();
  const query = useQuery(publicationQuery(id));
  const publication = query.data?.publication;
  const isEditing = view === 'edit' && publication?.status === 'scheduled';
  const show = (next: 'edit' | undefined) => void navigate({ search: next === undefined ? {} : { view: next } });
  return (
    <Page
      title={publication === undefined ? text.one : descriptionOf(publication).slice(0, 80)}
      breadcrumbs={<Link to="/publications">{text.title}</Link>}
      actions={
        publication !== undefined && !isEditing && <Actions publication={publication} onEdit={() => show('edit')} />
      }
    >
      <Loaded query={query} what={text.oneFailed} rows={6}>
        {(data) => (isEditing ? <Edit start={data} onDone={() => show(undefined)} /> : <Details {...data} />)}
      </Loaded>
    </Page>
  );
}

function Details({ publication }: TaggedPublication) {
  const { publications: text } = useText();
  const targetText = useTargetText();
  const { id, status, to, rate, send_at: sendAt, error_code: errorCode, created_at: createdAt } = publication;
  const { started_at: startedAt, ended_at: endedAt, notification } = publication;
  const content = notification as { readonly notification_type?: string; readonly category?: string };
  return (
    <div className={styles.columns}>
      <div className={layout.stack16}>
        {errorCode !== null && (
          <Notice kind={status === 'failed' ? 'bad' : 'warn'}>
            {status === 'failed' ? text.failedWhy(errorCode) : text.repeatsWhy(errorCode)}
          </Notice>
        )}
        <Panel title={text.progress} note={<Status publication={publication} />}>
          <Progress publication={publication} />
        </Panel>
        <Panel title={text.about}>
          <Facts
            facts={[
              [text.toWhom, <UserText key="to" text={targetText(to)} />],
              [text.type, content.category ?? content.notification_type ?? <None key="type" />],
              [text.sendAt, <Time key="send" value={sendAt} emptyText={text.atOnce} isFull />],
              [text.rate, rate === null ? text.noRate : text.perSecond(rate)],
              [text.createdAt, <Time key="created" value={createdAt} />],
              [text.started, <Time key="started" value={startedAt} />],
              [text.ended, <Time key="ended" value={endedAt} />],
              [text.id, <Id key="id" value={id} />],
            ]}
          />
        </Panel>
      </div>
      <aside className={styles.aside}>
        <Preview content={previewOf(publication)} />
      </aside>
    </div>
  );
}

function previewOf(publication: Publication) {
  const { content } = formOf(publication);
  return { ...content, image: content.imageUrl === '' ? undefined : content.imageUrl };
}

function Progress({ publication }: { publication: Publication }) {
  const { publications: text } = useText();
  const { number, moment } = useFormats();
  const { status, recipients, created, skipped, recall, send_at: sendAt } = publication;
  const done = created + skipped;
  const isRecall = recall !== null;
  const sentence = isRecall
    ? text.recallProgress(number(recall.removed), number(created), recall.finished_at !== null)
    : status === 'scheduled'
      ? sendAt === null
        ? text.waits
        : text.waitsUntil(moment(sendAt))
      : recipients === null
        ? text.beginning
        : status === 'done'
          ? text.reached(created, number(created))
          : text.of(number(done), number(Math.max(recipients, done)));
  const [value, max] = isRecall ? [recall.removed, created] : [done, Math.max(recipients ?? 0, done)];
  const hasBar = isRecall ? recall.finished_at === null : status === 'running' || status === 'paused';
  return (
    <div className={styles.progress}>
      <p role="status">{sentence}</p>
      {hasBar && <progress value={value} max={Math.max(1, max)} aria-label={text.progress} />}
      <dl className={styles.figures}>
        <div>
          <dt>{status === 'done' ? text.recipients : text.recipientsEstimate}</dt>
          <dd>
            <Num value={recipients} scale="figure" />
          </dd>
        </div>
        <div>
          <dt>{text.createdHead}</dt>
          <dd>
            <Num value={created} scale="figure" />
          </dd>
        </div>
        <div>
          <dt>{text.skipped}</dt>
          <dd>
            <Num value={skipped} scale="figure" />
          </dd>
        </div>
        {isRecall && (
          <div>
            <dt>{text.removed}</dt>
            <dd>
              <Num value={recall.removed} scale="figure" />
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
}

/** The moves that the state allows. */
function Actions({ publication, onEdit }: { publication: Publication; onEdit: () => void }) {
  const { publications: text } = useText();
  const client = useQueryClient();
  const { id, status, created, recall } = publication;
  const [asked, setAsked] = useState<'cancel' | 'recall'>();
  const move = useMutation({
    mutationFn: (what: Move) => movePublication(id, what),
    async onSuccess(next, what) {
      setAsked(undefined);
      toast.done(text.moved[what]);
      client.setQueryData(publicationQuery(id).queryKey, next);
      await client.invalidateQueries({ queryKey: publicationsKey });
    },
    async onError(error, what) {
      if (what === 'pause' || what === 'resume') toast.failed(text.notMoved[what], error);
      // It has another state than the page has shown.
      await client.invalidateQueries({ queryKey: publicationQuery(id).queryKey });
    },
  });
  const isUnfinished = ['scheduled', 'running', 'paused'].includes(status);
  const close = () => {
    setAsked(undefined);
    move.reset();
  };
  const busy = move.isPending && asked === undefined;
  return (
    <>
      {status === 'scheduled' && (
        <Button icon="pencil" onClick={onEdit}>
          {text.edit}
        </Button>
      )}
      {status === 'running' && (
        <Button icon="pause" changesData busy={busy} onClick={() => move.mutate('pause')}>
          {text.pause}
        </Button>
      )}
      {status === 'paused' && (
        <Button kind="main" icon="play" changesData busy={busy} onClick={() => move.mutate('resume')}>
          {text.resume}
        </Button>
      )}
      {isUnfinished && (
        <Button kind="warn" changesData onClick={() => setAsked('cancel')}>
          {text.cancel}
        </Button>
      )}
      {recall === null && status !== 'scheduled' && (
        <Button kind="warn" changesData onClick={() => setAsked('recall')}>
          {text.recall}
        </Button>
      )}
      {asked !== undefined && (
        <ConfirmDialog
          title={asked === 'cancel' ? text.cancelTitle : text.recallTitle(created)}
          action={asked === 'cancel' ? text.cancelAction : text.recallAction}
          isDestructive
          confirmText={asked === 'recall' && created > 0 ? id.slice(0, 8) : undefined}
          busy={move.isPending}
          error={move.error !== null && <Problem message={text.notMoved[asked]} error={move.error} />}
          onConfirm={() => move.mutate(asked)}
          onClose={close}
        >
          <ul>
            {asked === 'cancel' ? (
              <>
                <li>{text.cancelStops}</li>
                <li>{text.cancelKeeps(created)}</li>
              </>
            ) : (
              <>
                {isUnfinished && <li>{text.recallCancels}</li>}
                <li>{text.recallRemoves(created)}</li>
                <li>{text.recallPushes}</li>
              </>
            )}
          </ul>
        </ConfirmDialog>
      )}
    </>
  );
}

/** Changes a publication that has not started. If somebody else changes it meanwhile, nothing of theirs is lost. */
function Edit({ start, onDone }: { start: TaggedPublication; onDone: () => void }) {
  const { publications: text } = useText();
  const targetText = useTargetText();
  const client = useQueryClient();
  const [{ publication, tag }, setStart] = useState(start);
  const [form, setForm] = useState(
    () => ({ ...formOf(publication), mode: 'kept' as const }) as ReturnType<typeof formOf>,
  );
  const save = useMutation({
    mutationFn: (body: PublicationChange) => changePublication(publication.id, body, tag),
    async onSuccess(next) {
      toast.done(text.saved);
      client.setQueryData(publicationQuery(publication.id).queryKey, next);
      onDone();
      await client.invalidateQueries({ queryKey: publicationsKey });
    },
    async onError(error) {
      if (!(error instanceof ProblemError && (error.status === 412 || error.code === 'publication_started'))) return;
      setStart(await client.fetchQuery({ ...publicationQuery(publication.id), staleTime: 0 }));
    },
  });
  const { error } = save;
  const isChanged = error instanceof ProblemError && error.status === 412;
  const hasStarted = error instanceof ProblemError && error.code === 'publication_started';
  return (
    <Compose
      form={form}
      onChange={(change) => setForm((before) => ({ ...before, ...change }))}
      stored={{
        target: targetText(publication.to),
        notification: publication.notification as Readonly<Record<string, unknown>>,
      }}
      onSave={(body) => save.mutate(body)}
      isSaving={save.isPending}
      error={error}
      errorText={isChanged ? text.changedMeanwhile : hasStarted ? text.startedMeanwhile : undefined}
      onDiscard={onDone}
    />
  );
}
