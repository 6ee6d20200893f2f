import { useNavigate, useSearch } from '@tanstack/react-router';
import { useList } from '../../api/pages.js';
import type { GetPublicationPageResponse, Publication } from '../../api/schema.js';
import { useShortcuts } from '../../app/keyboard.js';
import { ButtonLink } from '../../components/button/button.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Page } from '../../components/panel/panel.js';
import { ExportMenu } from '../../components/table/export-menu.js';
import { ListPanel } from '../../components/table/list-panel.js';
import type { Column } from '../../components/table/row.js';
import { Num, Time, UserText } from '../../components/text/values.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { publicationsKey, readPublications, statuses } from './queries.js';
import { descriptionOf, Status, useTargetText } from './status.js';

/** The columns of a CSV file. */
const csvColumns = ['id', 'status', 'send_at', 'rate', 'recipients', 'created', 'skipped', 'created_at'] as const;

/** What was published to many users, and what will be. */
export function Publications() {
  const { publications: text } = useText();
  const search = useSearch({ from: '/publications' });
  const navigate = useNavigate({ from: '/publications' });
  const status = statuses.find((each) => each === search.status);
  const create = () => void navigate({ to: '/publications/new' });
  useShortcuts([{ keys: 'c', name: text.create, group: 'thisPage', run: create }]);
  const list = useList<Publication, GetPublicationPageResponse>({
    key: [...publicationsKey, 'all', status ?? ''],
    read: readPublications(status),
    refreshMs: 3000,
  });
  const columns: readonly Column<Publication>[] = [
    { key: 'what', head: text.what, size: 'wide', cell: (row) => <Identity publication={row} /> },
    { key: 'status', head: text.status, cell: (row) => <Status publication={row} /> },
    { key: 'start', head: text.starts, isHiddenIfNarrow: true, cell: (row) => <Start publication={row} /> },
    { key: 'created', head: text.createdHead, isNumber: true, cell: ({ created }) => <Num value={created} /> },
  ];
  return (
    <Page
      title={text.title}
      actions={
        <>
          <ExportMenu name="publications" columns={csvColumns} read={readPublications(status, 100)} />
          <ButtonLink kind="main" icon="plus" to="/publications/new">
            {text.create}
          </ButtonLink>
        </>
      }
    >
      <FilterBar
        urlQuery={{ status }}
        onChange={(next) => void navigate({ search: (before) => ({ ...before, ...next }), replace: true })}
        fields={[
          { name: 'status', label: text.status, values: statuses.map((each) => [each, text.statuses[each]] as const) },
        ]}
      />
      <ListPanel
        list={list}
        text={text}
        isFiltered={status !== undefined}
        label={text.title}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={descriptionOf}
        onOpen={({ id }) => void navigate({ to: '/publications/$id', params: { id } })}
        compact={(row) => (
          <div className={layout.identity}>
            <Identity publication={row} />
            <span>
              <Status publication={row} />
            </span>
          </div>
        )}
      />
    </Page>
  );
}

function Identity({ publication }: { publication: Publication }) {
  const targetText = useTargetText();
  return (
    <div className={layout.identity}>
      <UserText strong text={descriptionOf(publication)} />
      <UserText quiet text={targetText(publication.to)} />
    </div>
  );
}

function Start({
  publication: { started_at: startedAt, send_at: sendAt, created_at: createdAt },
}: {
  publication: Publication;
}) {
  return <Time value={startedAt ?? sendAt ?? createdAt} isFull={startedAt === null && sendAt !== null} />;
}
