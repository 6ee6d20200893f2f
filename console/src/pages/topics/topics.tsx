import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useList } from '../../api/pages.js';
import { ProblemError } from '../../api/problem.js';
import type { GetTopicPageResponse, Topic } from '../../api/schema.js';
import { useShortcuts } from '../../app/keyboard.js';
import { Button } from '../../components/button/button.js';
import { FormDialog } from '../../components/dialog/dialog.js';
import { Checkbox, Field } from '../../components/field/field.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Page } from '../../components/panel/panel.js';
import { Problem } from '../../components/state/state.js';
import { ExportMenu } from '../../components/table/export-menu.js';
import { ListPanel } from '../../components/table/list-panel.js';
import type { Column } from '../../components/table/row.js';
import { Time, UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { putTopic, readTopics, topicQuery, topicsKey } from './queries.js';

/** The columns of a CSV file. */
const csvColumns = ['key', 'title', 'is_open', 'created_at', 'updated_at'] as const;

/** The page of the topics. Users can subscribe to them. */
export function Topics() {
  const { topics: text } = useText();
  const { q, open } = useSearch({ from: '/topics' });
  const navigate = useNavigate({ from: '/topics' });
  const [isCreating, setIsCreating] = useState(false);
  const create = () => setIsCreating(true);
  useShortcuts([{ keys: 'c', name: text.create, group: 'thisPage', run: create }]);
  const part = (q ?? '').trim();
  const isOpen = open === 'true' || open === 'false' ? open : undefined;
  const list = useList<Topic, GetTopicPageResponse>({
    key: [...topicsKey, 'all', part, isOpen ?? ''],
    read: readTopics(part, { isOpen }),
    refreshMs: 15_000,
  });
  const openTopic = ({ key }: Pick<Topic, 'key'>) => void navigate({ to: '/topics/$key', params: { key } });
  const joiningOf = (topic: Topic) => (topic.is_open ? text.open : text.closed);
  const columns: readonly Column<Topic>[] = [
    { key: 'title', head: text.name, size: 'wide', cell: (topic) => <Identity topic={topic} /> },
    { key: 'open', head: text.joining, cell: joiningOf },
    {
      key: 'created',
      head: text.created,
      isHiddenIfNarrow: true,
      cell: ({ created_at }) => <Time value={created_at} />,
    },
  ];
  return (
    <Page
      title={text.title}
      actions={
        <>
          <ExportMenu name="topics" columns={csvColumns} read={readTopics(part, { isOpen, limit: 100 })} />
          <Button kind="main" icon="plus" onClick={create}>
            {text.create}
          </Button>
        </>
      }
    >
      <FilterBar
        urlQuery={{ q, open: isOpen }}
        onChange={(next) => void navigate({ search: (before) => ({ ...before, ...next }), replace: true })}
        fields={[
          {
            name: 'open',
            label: text.joining,
            values: [
              ['true', text.open],
              ['false', text.closed],
            ],
          },
        ]}
        searchBox={{ name: 'q', label: text.search }}
      />
      <ListPanel
        list={list}
        text={text}
        isFiltered={part !== '' || isOpen !== undefined}
        label={text.title}
        columns={columns}
        idOf={({ key }) => key}
        nameOf={({ title }) => title}
        onOpen={openTopic}
        compact={(topic) => (
          <div className={layout.identity}>
            <Identity topic={topic} />
            <span className={layout.quiet}>{joiningOf(topic)}</span>
          </div>
        )}
      />
      {isCreating && <TopicDialog onSaved={openTopic} onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

function Identity({ topic: { key, title } }: { topic: Topic }) {
  return (
    <div className={layout.identity}>
      <UserText strong text={title} />
      <bdi className={layout.quiet}>{key}</bdi>
    </div>
  );
}

interface TopicDialogProps {
  /** The topic to change. Without: a new one. */
  readonly topic?: Topic;
  readonly onSaved: (topic: Topic) => void;
  readonly onClose: () => void;
}

/** Creates a topic, or changes its title and who may join. */
export function TopicDialog({ topic, onSaved, onClose }: TopicDialogProps) {
  const { topics: text } = useText();
  const client = useQueryClient();
  const [key, setKey] = useState(topic?.key ?? '');
  const [title, setTitle] = useState(topic?.title ?? '');
  const [isOpen, setIsOpen] = useState(topic?.is_open ?? false);
  const [isTaken, setIsTaken] = useState(false);
  const save = useMutation({
    async mutationFn() {
      // PUT would change a topic that exists.
      if (topic === undefined && (await exists(key.trim()))) return undefined;
      return putTopic(key.trim(), { title: title.trim(), is_open: isOpen });
    },
    async onSuccess(saved) {
      setIsTaken(saved === undefined);
      if (saved === undefined) return;
      toast.done(text.saved(saved.title));
      client.setQueryData(topicQuery(saved.key).queryKey, saved);
      onClose();
      onSaved(saved);
      await client.invalidateQueries({ queryKey: topicsKey });
    },
  });
  async function exists(name: string): Promise<boolean> {
    try {
      await client.fetchQuery({ ...topicQuery(name), staleTime: 0, retry: false });
      return true;
    } catch (error) {
      if (error instanceof ProblemError && error.status === 404) return false;
      throw error;
    }
  }
  const { error } = save;
  const messageFor = (field: string) => (error instanceof ProblemError ? error.messageFor(field) : undefined);
  const keyError = isTaken ? text.keyTaken : messageFor('key');
  const titleError = messageFor('title');
  const isElsewhere = error !== null && keyError === undefined && titleError === undefined;
  return (
    <FormDialog
      title={topic === undefined ? text.createTitle : text.editTitle}
      action={topic === undefined ? text.createAction : text.save}
      isReady={key.trim() !== '' && title.trim() !== ''}
      busy={save.isPending}
      onClose={onClose}
      onSubmit={() => save.mutate()}
    >
      <div className={layout.stack16}>
        <Field
          label={text.titleLabel}
          hint={text.titleHint}
          error={titleError}
          value={title}
          maxLength={255}
          autoComplete="off"
          dir="auto"
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
        {topic === undefined && (
          <Field
            label={text.key}
            hint={text.keyHint}
            error={keyError}
            value={key}
            maxLength={64}
            verbatim
            onChange={(event) => {
              setKey(event.currentTarget.value);
              setIsTaken(false);
              save.reset();
            }}
          />
        )}
        <Checkbox
          label={text.openLabel}
          checked={isOpen}
          onChange={(event) => setIsOpen(event.currentTarget.checked)}
        />
        {isElsewhere && <Problem message={text.notSaved} error={error} />}
      </div>
    </FormDialog>
  );
}
