import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { useLiveEvents } from '../../api/live-events.js';
import { useList } from '../../api/pages.js';
import type { AuditEvent, GetEventPageResponse } from '../../api/schema.js';
import { noUser } from '../../api/users.js';
import { Dot } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { Switch } from '../../components/field/field.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Menu } from '../../components/menu/menu.js';
import { Facts, MasterDetail, Page, Panel } from '../../components/panel/panel.js';
import { Empty, Loaded } from '../../components/state/state.js';
import { ListFoot } from '../../components/table/bars.js';
import type { Column } from '../../components/table/row.js';
import { CompactHead, Table } from '../../components/table/table.js';
import { Id } from '../../components/text/id.js';
import { Cut, None, Time } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { download } from '../../lib/download.js';
import { useText } from '../../text/text.js';
import styles from './audit.module.css';
import { exportEvents, filterOf, readEvents } from './list.js';

/** Who did what to whom. The list follows new events at its top. While it is scrolled or a row is open, they are counted. */
export function Audit() {
  const text = useText();
  const { audit, events: words } = text;
  const search = useSearch({ from: '/audit' });
  const navigate = useNavigate({ from: '/audit' });
  const set = (change: Readonly<Record<string, string | undefined>>) => {
    const next: Readonly<Record<string, string | undefined>> = { open: undefined, ...change };
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  };
  const filter = filterOf(search);
  const isWanted = search.live !== 'off';
  const [isStreamed, setStreamed] = useState(false);
  const query = useList<AuditEvent, GetEventPageResponse>({
    key: ['events', 'page', filter],
    read: (cursor, signal) => readEvents(filter, { cursor, limit: 50, signal }),
    every: isWanted && search.open === undefined && !isStreamed && 5000,
  });
  const isFollowed = isWanted && search.open === undefined && query.isAtTop;
  const { refetch } = query;
  const live = useLiveEvents({
    ...{ filter, isFollowed, list: query.data?.rows },
    refresh: useCallback(() => void refetch(), [refetch]),
  });
  useEffect(() => setStreamed(live.state === 'live'), [live.state]);
  const shown = live.rows ?? [];
  const isDown = live.state === 'waiting' || live.state === 'ended';
  const showNewer = () => {
    live.show();
    window.scrollTo({ top: 0 });
  };
  const userOf = ({ user_id, user_name, data }: AuditEvent) => {
    if (user_id === noUser) return typeof data.name === 'string' ? data.name : audit.service;
    return user_name ?? audit.unknown;
  };
  /** Undefined: the user of the event. */
  const actorOf = ({ actor, actor_name, user_id }: AuditEvent) => {
    const [kind = '', id] = actor.split(':');
    if (kind !== 'user') return [words.actors[kind] ?? actor, actor_name].filter(Boolean).join(' · ');
    return id === undefined || id === user_id ? undefined : (actor_name ?? audit.unknown);
  };
  const verbOf = ({ type }: AuditEvent) => words.types[type] ?? type;
  const columns: readonly Column<AuditEvent>[] = [
    { key: 'at', head: audit.time, cell: ({ created_at }) => <Time at={created_at} /> },
    { key: 'user', head: audit.who, cell: (event) => <Cut strong of={userOf(event)} /> },
    { key: 'what', head: audit.what, size: 'wide', cell: (event) => verbOf(event) },
    { key: 'by', head: audit.by, size: 'low', cell: (event) => <Actor of={actorOf(event)} /> },
    {
      key: 'address',
      head: audit.address,
      size: 'low',
      cell: ({ address }) => (address === null ? <None /> : address),
    },
  ];
  const opened = shown.find(({ id }) => id === search.open);

  async function exportAs(kind: 'csv' | 'ndjson'): Promise<void> {
    const stopping = new AbortController();
    const progress = toast.progress(audit.exporting(0), { name: text.common.cancel, run: () => stopping.abort() });
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

  const detail =
    opened === undefined ? undefined : (
      <Panel title={`${userOf(opened)} ${verbOf(opened)}`}>
        <Facts
          of={[
            [audit.time, <Time key="at" at={opened.created_at} focusable />],
            [audit.type, opened.type],
            [audit.by, actorOf(opened) ?? userOf(opened)],
            ...(opened.changes.length === 0
              ? []
              : [[audit.changes, <Changes key="changes" of={opened.changes} />] as const]),
            [audit.userId, <Id key="user" of={opened.user_id} name={audit.userId} />],
            [audit.address, opened.address ?? <None key="address" />],
            [
              audit.request,
              opened.request_id === null ? (
                <None key="request" />
              ) : (
                <Id key="request" of={opened.request_id} name={audit.request} />
              ),
            ],
            ...Object.entries(opened.data).map(
              ([name, value]) => [name, <Value key={name} of={value} name={name} />] as const,
            ),
            [text.common.id, <Id key="id" of={opened.id} name={audit.event} />],
          ]}
        />
      </Panel>
    );
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
            checked={search.live !== 'off'}
            onChange={(event) => set({ live: event.currentTarget.checked ? undefined : 'off' })}
          />
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
        </>
      }
    >
      <FilterBar
        query={search}
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
        <Panel flush>
          <Loaded query={query} what={audit.failed} rows={10}>
            {({ first }) =>
              shown.length === 0 ? (
                <Empty title={audit.nothing}>{filter === '' ? audit.nothingYet : audit.nothingMatches}</Empty>
              ) : (
                <>
                  <Table
                    label={audit.title}
                    columns={columns}
                    rows={shown}
                    more={query.more}
                    idOf={({ id }) => id}
                    nameOf={(event) => `${userOf(event)} ${verbOf(event)}`}
                    onOpen={({ id }) => set({ open: id === search.open ? undefined : id })}
                    openId={search.open}
                    compact={(event) => (
                      <>
                        <CompactHead name={userOf(event)} at={event.created_at} />
                        <Cut quiet of={verbOf(event)} />
                      </>
                    )}
                  />
                  <ListFoot more={query.more} rows={shown.length}>
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

/** Who did it, unless it was the user whom the event is about. */
function Actor({ of }: { of: string | undefined }) {
  return of === undefined ? <None /> : <Cut of={of} />;
}

/** The changed fields with their values before and after. */
function Changes({ of }: { of: AuditEvent['changes'] }) {
  const { audit } = useText();
  return (
    <ul className={styles.changes}>
      {of.map(({ field, before, after, withheld }) => (
        <li key={field}>
          <bdi className={styles.field}>{field}</bdi>
          {withheld ? (
            <span className={styles.quiet}>{audit.withheld}</span>
          ) : (
            <span>
              <span className="hidden-text">{audit.before} </span>
              <Value of={before} name={field} /> <span aria-hidden="true">→</span>
              <span className="hidden-text"> {audit.after}</span> <Value of={after} name={field} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** A detail of an event. It may hold text of users. */
function Value({ of, name }: { of: unknown; name: string }) {
  if (of === null || of === undefined) return <None />;
  if (typeof of === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(of))
    return <Id of={of} name={name} />;
  return <bdi className={styles.value}>{typeof of === 'object' ? JSON.stringify(of) : String(of)}</bdi>;
}
