import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { useList } from '../../api/pages.js';
import type {
  Audience,
  GetAudiencePageData,
  GetAudiencePageResponse,
  ListSigningKeysData,
  SavedAudience,
  SigningKey,
} from '../../api/schema.js';
import { Badge, type BadgeKind } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Page, Panel, Rows } from '../../components/panel/panel.js';
import { Empty, Loaded, Notice } from '../../components/state/state.js';
import { ExportMenu } from '../../components/table/export-menu.js';
import { ListPanel } from '../../components/table/list-panel.js';
import type { Column } from '../../components/table/row.js';
import { Id } from '../../components/text/id.js';
import { Time, UserText } from '../../components/text/values.js';
import { filterValue } from '../../lib/filter-value.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './audiences.module.css';
import { EditAudience, NewAudience } from './forms.js';

/** The columns of a CSV file. */
const csvColumns = ['uri', 'alg', 'ttl', 'roles', 'claims', 'support', 'created_at', 'id'] as const;

/** The services that get access tokens, and the keys that sign them. */
export function Audiences() {
  const { audiences: text } = useText();
  const query = useSearch({ from: '/audiences' });
  const navigate = useNavigate({ from: '/audiences' });
  const [opened, setOpened] = useState<Audience | 'new'>();
  const close = () => setOpened(undefined);
  const [saved, setSaved] = useState<SavedAudience>();
  const change = (next: Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const read = (limit: number) => (cursor: string | undefined, signal: AbortSignal) =>
    request<GetAudiencePageData, GetAudiencePageResponse>('GET', '/admin/v1/audiences/page', {
      query: { limit, cursor, filter: query.q && `uri:like:${filterValue(query.q)}` },
      signal,
    });
  const list = useList<Audience, GetAudiencePageResponse>({
    key: ['audiences', query.q ?? ''],
    read: read(50),
    // Another operator may create or change one.
    refreshMs: 15_000,
  });
  const contentOf = ({ roles, claims }: Audience) => [...(roles ? [text.rolesName] : []), ...claims].join(' · ');
  const columns: readonly Column<Audience>[] = [
    { key: 'uri', head: text.uri, size: 'wide', cell: ({ uri }) => <UserText strong text={uri} /> },
    {
      key: 'content',
      head: text.content,
      size: 'wide',
      cell: (one) => <UserText quiet text={contentOf(one) || '—'} />,
    },
    { key: 'ttl', head: text.ttl, cell: ({ ttl }) => text.lasts(ttl) },
    { key: 'alg', head: text.alg, cell: ({ alg }) => alg },
    { key: 'created', head: text.created, isHiddenIfNarrow: true, cell: (one) => <Time value={one.created_at} /> },
  ];
  const actions = (
    <>
      <ExportMenu name="audiences" columns={csvColumns} read={read(100)} />
      <Button kind="main" icon="plus" onClick={() => setOpened('new')}>
        {text.create}
      </Button>
    </>
  );
  return (
    <Page title={text.title} actions={actions}>
      <FilterBar urlQuery={query} onChange={change} fields={[]} searchBox={{ name: 'q', label: text.search }} />
      {saved !== undefined && saved.too_large_for.length > 0 && (
        <TooLarge audience={saved} onDismiss={() => setSaved(undefined)} />
      )}
      <ListPanel
        list={list}
        text={text}
        isFiltered={query.q !== undefined}
        onOpen={setOpened}
        label={text.list}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={({ uri }) => uri}
        compact={(audience) => (
          <div className={layout.stack2}>
            <UserText strong text={audience.uri} />
            <UserText quiet text={contentOf(audience) || text.noContent} />
            <span className={layout.faint}>
              {audience.alg} · {text.lasts(audience.ttl)}
            </span>
          </div>
        )}
      />
      <SigningKeys />
      {opened === 'new' && <NewAudience onClose={close} onSaved={setSaved} />}
      {opened !== undefined && opened !== 'new' && (
        <EditAudience audience={opened} onClose={close} onSaved={setSaved} />
      )}
    </Page>
  );
}

/** Names users who get no token for an audience that was just saved. */
function TooLarge({ audience, onDismiss }: { audience: SavedAudience; onDismiss: () => void }) {
  const { audiences: text, common } = useText();
  return (
    <Notice
      kind="warn"
      live
      action={
        <Button small onClick={onDismiss}>
          {common.close}
        </Button>
      }
    >
      <p className={styles.uri}>
        <bdi>{audience.uri}</bdi>
      </p>
      {text.tooLarge}
      <ul className={styles.users}>
        {audience.too_large_for.map((id) => (
          <li key={id}>
            <Link to="/users/$id" params={{ id }} className={styles.user}>
              {id}
            </Link>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

const badges: Readonly<Record<SigningKey['state'], BadgeKind>> = {
  current: 'good',
  planned: 'waiting',
  next: 'muted',
  former: 'off',
};

/** Which keys sign, will sign and have signed. A command of the server replaces them. */
function SigningKeys() {
  const { audiences: text } = useText();
  const sinceTexts = { current: text.signsSince, planned: text.signsFrom, next: '', former: text.signedFrom };
  const query = useQuery({
    queryKey: ['signing-keys'],
    queryFn: ({ signal }) => request<ListSigningKeysData, SigningKey[]>('GET', '/admin/v1/signing-keys', { signal }),
    refetchInterval: 60_000,
  });
  return (
    <Panel
      title={text.keys}
      hasNoPadding
      footer={
        <p className={styles.command}>
          {text.rotate} <code>postern signing-keys rotate</code>
        </p>
      }
    >
      <Loaded query={query} what={text.keysFailed} rows={2}>
        {(keys) =>
          keys.length === 0 ? (
            <Empty title={text.noKeys}>{text.noKeysWhy}</Empty>
          ) : (
            <Rows label={text.keys}>
              {keys.map((key) => (
                <li key={key.kid} className={styles.key}>
                  <span className={styles.state}>
                    <Badge kind={badges[key.state]}>{text.states[key.state]}</Badge>
                  </span>
                  <span>{key.alg}</span>
                  <Id value={key.kid} short />
                  <span className={styles.since}>
                    {key.signs_since === null ? (
                      text.notPlanned
                    ) : (
                      <>
                        {sinceTexts[key.state]} <Time value={key.signs_since} focusable />
                      </>
                    )}
                  </span>
                </li>
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Panel>
  );
}
