import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { useLiveEvents } from '../../api/live-events.js';
import { useList } from '../../api/pages.js';
import type { AuditEvent, GetEventPageResponse } from '../../api/schema.js';
import { Badge, Dot } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { eventLook, type Sentence, useSentence } from '../../components/event/event.js';
import { Switch } from '../../components/field/field.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Icon } from '../../components/icon/icon.js';
import { Menu } from '../../components/menu/menu.js';
import { MasterDetail, Page, Panel } from '../../components/panel/panel.js';
import { Empty, Loaded } from '../../components/state/state.js';
import { ListFoot } from '../../components/table/bars.js';
import type { Column } from '../../components/table/row.js';
import { CompactHead, Table, type TableProps } from '../../components/table/table.js';
import { None, Time, UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { download } from '../../lib/download.js';
import { useText } from '../../text/text.js';
import styles from './audit.module.css';
import { EventDetail } from './detail.js';
import { exportEvents, filterOf, readEvents } from './list.js';

/** The events of a filter, with the new ones. @param isWanted whether new events appear at the top */
function useEvents(filter: string, { isWanted, isOpen }: { isWanted: boolean; isOpen: boolean }) {
  const [isStreamed, setStreamed] = useState(false);
  const query = useList<AuditEvent, GetEventPageResponse>({
    key: ['events', 'page', filter],
    read: (cursor, signal) => readEvents(filter, { cursor, limit: 50, signal }),
    refreshMs: isWanted && !isOpen && !isStreamed && 5000,
  });
  const isFollowed = isWanted && !isOpen && query.isAtTop;
  const { refetch } = query;
  const live = useLiveEvents({
    filter,
    isFollowed,
    list: query.data?.rows,
    refresh: useCallback(() => void refetch(), [refetch]),
  });
  useEffect(() => setStreamed(live.state === 'live'), [live.state]);
  return { query, live, isFollowed };
}

/** The audit events. New events appear at the top. While the list is scrolled or a row is open, they are only counted. */
export function Audit() {
  const { audit, events: words } = useText();
  const search = useSearch({ from: '/audit' });
  const navigate = useNavigate({ from: '/audit' });
  const set = (change: Readonly<Record<string, string | undefined>>) => {
    const next: Readonly<Record<string, string | undefined>> = { open: undefined, ...change };
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  };
  const filter = filterOf(search);
  const isWanted = search.live !== 'off';
  const { query, live, isFollowed } = useEvents(filter, { isWanted, isOpen: search.open !== undefined });
  const shownRows = live.rows ?? [];
  const isDown = live.state === 'waiting' || live.state === 'ended';
  const showNewer = () => {
    live.show();
    window.scrollTo({ top: 0 });
  };
  const openEvent = shownRows.find(({ id }) => id === search.open);
  const detail = openEvent && <EventDetail event={openEvent} />;
  return (
    <Page
      title={audit.title}
      actions={
        <>
          <span className={styles.live} role="status">
            <Dot tone={isFollowed && !isDown ? 'good' : 'idle'} />{' '}
            {isFollowed ? (isDown ? audit.polled : audit.live) : audit.paused}
          </span>
          <Switch
            label={audit.follow}
            checked={isWanted}
            onChange={(event) => set({ live: event.currentTarget.checked ? undefined : 'off' })}
          />
          <ExportMenu filter={filter} />
        </>
      }
    >
      <FilterBar
        urlQuery={search}
        onChange={set}
        fields={[
          { name: 'type', label: audit.what, values: Object.entries(words.types) },
          { name: 'user', label: audit.userId },
          { name: 'actor', label: audit.actor, placeholder: 'key:…' },
          { name: 'address', label: audit.address },
          { name: 'request', label: audit.request },
          { name: 'from', label: audit.from },
          { name: 'to', label: audit.to },
        ]}
      />
      <MasterDetail detail={detail}>
        {live.newer > 0 && (
          <div className={styles.newer} role="status">
            <Button small onClick={showNewer}>
              {audit.newer(live.newer)}
            </Button>
          </div>
        )}
        <Panel hasNoPadding>
          <Loaded query={query} what={audit.failed} rows={10}>
            {({ first }) =>
              shownRows.length === 0 ? (
                <Empty title={audit.nothing}>{filter === '' ? audit.nothingYet : audit.nothingMatches}</Empty>
              ) : (
                <>
                  <EventTable
                    rows={shownRows}
                    source={query.more}
                    openId={search.open}
                    onOpen={({ id }) => set({ open: id === search.open ? undefined : id })}
                  />
                  <ListFoot source={query.more} rows={shownRows.length}>
                    {audit.count(first.total + live.added, !first.total_is_exact)}
                  </ListFoot>
                </>
              )
            }
          </Loaded>
        </Panel>
      </MasterDetail>
    </Page>
  );
}

function ExportMenu({ filter }: { filter: string }) {
  const { audit, common } = useText();

  async function exportAs(kind: 'csv' | 'ndjson'): Promise<void> {
    const stopping = new AbortController();
    const progress = toast.progress(audit.exporting(0), { name: common.cancel, run: () => stopping.abort() });
    try {
      const { file, count } = await exportEvents(
        filter,
        kind,
        (part, read) => progress.update(part, audit.exporting(read)),
        stopping.signal,
      );
      download(`audit.${kind}`, file, file.type);
      toast.done(audit.exported(count));
    } catch (error) {
      if (!stopping.signal.aborted) toast.failed(audit.exportFailed, error);
    } finally {
      progress.end();
    }
  }

  return (
    <Menu
      label={audit.export}
      icon="download"
      items={[
        { name: audit.asCsv, run: () => void exportAs('csv') },
        { name: audit.asNdjson, run: () => void exportAs('ndjson') },
      ]}
    >
      {audit.export}
    </Menu>
  );
}

type EventTableProps = Pick<TableProps<AuditEvent>, 'rows' | 'source' | 'openId' | 'onOpen'>;

function EventTable(props: EventTableProps) {
  const { audit } = useText();
  const sentenceOf = useSentence();
  const join = (...parts: readonly (string | undefined)[]) => parts.filter(Boolean).join(' ');
  const columns: readonly Column<AuditEvent>[] = [
    { key: 'at', head: audit.time, cell: ({ created_at }) => <Time value={created_at} /> },
    { key: 'who', head: audit.who, cell: (event) => <Who sentence={sentenceOf(event)} /> },
    {
      key: 'what',
      head: audit.what,
      size: 'wide',
      cell: (event) => <What event={event} verb={sentenceOf(event).verb} />,
    },
    { key: 'whom', head: audit.whom, cell: (event) => <Whom name={sentenceOf(event).object} /> },
    {
      key: 'address',
      head: audit.address,
      isHiddenIfNarrow: true,
      cell: ({ address }) => (address === null ? <None /> : address),
    },
  ];
  return (
    <Table
      {...props}
      label={audit.title}
      columns={columns}
      idOf={({ id }) => id}
      nameOf={(event) => {
        const { actor, verb, object } = sentenceOf(event);
        return join(actor, verb, object);
      }}
      compact={(event) => {
        const { actor, verb, object } = sentenceOf(event);
        return (
          <>
            <CompactHead name={actor} time={event.created_at} />
            <UserText quiet text={join(verb, object)} />
          </>
        );
      }}
    />
  );
}

function Who({ sentence: { actor, kind } }: { sentence: Sentence }) {
  return (
    <span className={styles.who}>
      <UserText strong text={actor} />
      {kind !== undefined && <Badge kind="label">{kind}</Badge>}
    </span>
  );
}

function What({ event: { type }, verb }: { event: AuditEvent; verb: string }) {
  const { icon, tone } = eventLook(type);
  return (
    <span className={styles.description}>
      <span className={styles[tone]}>
        <Icon name={icon} />
      </span>
      <UserText text={verb} />
    </span>
  );
}

function Whom({ name }: { name: string | undefined }) {
  return name === undefined ? <None /> : <UserText text={name} />;
}
