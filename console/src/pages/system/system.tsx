import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { request } from '../../api/client.js';
import type { GetStatisticsData, GetStatisticsResponse, GetSystemResponse } from '../../api/schema.js';
import { Badge } from '../../components/badge/badge.js';
import { Icon } from '../../components/icon/icon.js';
import { Facts, Page, Panel, Rows } from '../../components/panel/panel.js';
import { Plot } from '../../components/plot/plot.js';
import { Loaded } from '../../components/state/state.js';
import { None, Num, Sentence, Time } from '../../components/text/values.js';
import { cx } from '../../lib/cx.js';
import { useFormats, useText } from '../../text/text.js';
import { systemQuery } from './queries.js';
import styles from './system.module.css';

type System = GetSystemResponse;
const day = 86_400_000;

/** The findings of the doctor, the processes, the queue, the database and the settings. */
export function SystemPage() {
  const { system } = useText();
  const query = useQuery({ ...systemQuery, refetchInterval: 10_000 });
  return (
    <Page title={system.title}>
      <Loaded query={query} what={system.failed} rows={12}>
        {(data) => (
          <>
            <Findings findings={data.findings} />
            <Processes system={data} />
            <Storage system={data} />
            <Settings settings={data.settings} />
            <Migrations migrations={data.migrations} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The pages that show what a check is about. */
const pages = new Map<string, '/access' | '/backups' | '/messages' | '/webhooks'>([
  ['backups', '/backups'],
  ['log archive', '/backups'],
  ['messages', '/messages'],
  ['test identities', '/access'],
  ['webhooks', '/webhooks'],
]);

const icons = { ok: 'circleCheck', warn: 'warning', fail: 'circleCross' } as const;

function Findings({ findings }: { findings: System['findings'] }) {
  const { system } = useText();
  const findingCount = findings.filter(({ level }) => level !== 'ok').length;
  return (
    <Panel
      hasNoPadding
      title={system.doctor}
      note={findingCount === 0 ? system.allWell : system.attention(findingCount)}
    >
      <Rows label={system.doctor}>
        {findings.map(({ level, what, detail }) => (
          <li key={`${what} ${detail}`} className={styles.finding}>
            <span className={styles[level]}>
              <Icon name={icons[level]} />
              <span className="hidden-text">{system.levels[level]}</span>
            </span>
            <strong className={styles.what}>
              <PageLink what={what} />
            </strong>
            <bdi className={styles.detail}>
              <Sentence text={detail} />
            </bdi>
          </li>
        ))}
      </Rows>
    </Panel>
  );
}

/** The name of a check, as a link if a page shows more. */
function PageLink({ what }: { what: string }) {
  const page = pages.get(what);
  return page === undefined ? what : <Link to={page}>{what}</Link>;
}

interface GridProps {
  readonly label: string;
  readonly heads: readonly string[];
  /** All columns but the first are numbers. */
  readonly numbers?: boolean;
  /** On a phone each row is a list of names and values: the cells have the name of their column as `data-head`. */
  readonly stacks?: boolean;
  readonly children: ReactNode;
}

function Grid({ label, heads, numbers = false, stacks = false, children }: GridProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it
    <div role="group" className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={cx(styles.grid, numbers && styles.numbers, stacks && styles.stacks)}>
        <caption className="hidden-text">{label}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Processes({ system: { instances, version, queue } }: { system: System }) {
  const { system } = useText();
  const { number, duration } = useFormats();
  const due = queue.due === 0 ? system.noneDue : system.due(number(queue.due), duration(queue.oldest_seconds * 1000));
  return (
    <Panel hasNoPadding title={system.processes} note={system.versionOf(version)}>
      <Grid
        stacks
        label={system.processes}
        heads={[system.host, system.worker, system.version, 'Node.js', system.streams, system.started, system.seen]}
      >
        {instances.map((instance) => (
          <tr key={instance.id}>
            <th scope="row">
              {instance.host} · {instance.process_id}
            </th>
            <td data-head={system.worker}>{instance.worker ?? <None />}</td>
            <td data-head={system.version}>{instance.version}</td>
            <td data-head="Node.js">{instance.node}</td>
            <td data-head={system.streams}>
              <Num value={instance.streams} />
            </td>
            <td data-head={system.started}>
              <Time value={instance.started_at} />
            </td>
            <td data-head={system.seen}>
              {instance.is_lost ? (
                <Badge kind="bad">
                  {system.lost} <Time value={instance.seen_at} />
                </Badge>
              ) : (
                system.runs
              )}
            </td>
          </tr>
        ))}
      </Grid>
      <p className={styles.queue}>
        {due} {queue.retrying > 0 && system.retrying(number(queue.retrying))}
      </p>
    </Panel>
  );
}

const mebibytes = (bytes: number) => bytes / 1_048_576;

function Storage({ system: { database } }: { system: System }) {
  const { system } = useText();
  const { number } = useFormats();
  const size = (bytes: number) => `${number(Math.round(mebibytes(bytes) * 10) / 10)} MiB`;
  const growth = useQuery({
    queryKey: ['statistics', 'database.size'],
    queryFn: ({ signal }) => {
      const to = Math.ceil(Date.now() / day) * day;
      const query = {
        metric: 'database.size',
        from: new Date(to - 30 * day).toISOString(),
        to: new Date(to).toISOString(),
        step: '1d' as const,
      };
      return request<GetStatisticsData, GetStatisticsResponse>('GET', '/admin/v1/stats', { query, signal });
    },
  });
  const values = (growth.data?.metrics[0]?.values ?? []).map((bytes) => (bytes === 0 ? null : mebibytes(bytes)));
  return (
    <Panel title={system.database} note={`PostgreSQL ${database.version}`}>
      <div className={styles.storage}>
        <Facts
          facts={[
            [system.size, size(database.bytes)],
            [system.connections, system.of(number(database.connections), number(database.max_connections))],
          ]}
        />
        {growth.data !== undefined && (
          <Plot
            label={system.growthLabel(size(database.bytes))}
            times={growth.data.buckets}
            step={day}
            series={[{ key: 'size', name: system.growth, values, look: 'bars', tone: 'accent', height: 110 }]}
          />
        )}
        <Grid numbers label={system.tables} heads={[system.table, system.size, system.rows]}>
          {database.tables.map((table) => (
            <tr key={table.name}>
              <th scope="row">{table.name}</th>
              <td>{size(table.bytes)}</td>
              <td>
                <Num value={table.rows} />
              </td>
            </tr>
          ))}
        </Grid>
      </div>
    </Panel>
  );
}

function Settings({ settings }: { settings: System['settings'] }) {
  const { system } = useText();
  const groups = [...new Set(settings.map(({ group }) => group))];
  return (
    <Panel title={system.settings} note={system.settingsNote}>
      {groups.map((group) => (
        <details key={group} className={styles.group}>
          <summary>{group}</summary>
          <Facts
            facts={settings
              .filter((setting) => setting.group === group)
              .map(({ name, value, is_hidden, is_set }) => [
                name,
                <span key={name} className={is_set ? styles.set : styles.detail}>
                  {is_hidden ? system.hidden : (value ?? <None />)}
                </span>,
              ])}
          />
        </details>
      ))}
    </Panel>
  );
}

function Migrations({ migrations }: { migrations: System['migrations'] }) {
  const { system } = useText();
  const pending = migrations.filter(({ applied_at }) => applied_at === null).length;
  return (
    <Panel
      title={system.migrations}
      note={pending === 0 ? system.allApplied(migrations.length) : system.pending(pending)}
    >
      <details className={styles.group}>
        <summary>{system.showAll}</summary>
        <Facts
          facts={migrations.map(({ name, applied_at }) => [
            name,
            <Time key={name} value={applied_at} emptyText={system.waits} />,
          ])}
        />
      </details>
    </Panel>
  );
}
