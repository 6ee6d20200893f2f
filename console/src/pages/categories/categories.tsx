import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Category } from '../../api/schema.js';
import { useShortcuts } from '../../app/keyboard.js';
import { entryQuery } from '../../app/operator.js';
import { Badge } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Page, Panel } from '../../components/panel/panel.js';
import { Empty, Loaded } from '../../components/state/state.js';
import { ListFoot } from '../../components/table/bars.js';
import type { Column } from '../../components/table/row.js';
import { Table } from '../../components/table/table.js';
import { None, UserText } from '../../components/text/values.js';
import { language } from '../../lib/preferences.js';
import { useStore } from '../../lib/store.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './categories.module.css';
import { NewCategory } from './new-category.js';
import { categoriesQuery, channels, titleOf } from './queries.js';
import { SetDialog } from './set-dialog.js';
import { stepsText } from './steps-text.js';

/** The categories of notifications: how each reaches users, and what they can turn off. */
export function Categories() {
  const { categories: text } = useText();
  const { q } = useSearch({ from: '/categories' });
  const navigate = useNavigate({ from: '/categories' });
  const chosen = useStore(language);
  const query = useQuery(categoriesQuery);
  const [dialog, setDialog] = useState<'new' | 'set'>();
  const close = () => setDialog(undefined);
  useShortcuts([{ keys: 'c', name: text.create, group: 'thisPage', run: () => setDialog('new') }]);
  const open = ({ name }: Pick<Category, 'name'>) => void navigate({ to: '/categories/$name', params: { name } });
  const part = (q ?? '').toLocaleLowerCase();
  const matches = (category: Category) =>
    `${category.name} ${titleOf(category, chosen)}`.toLocaleLowerCase().includes(part);
  return (
    <Page
      title={text.title}
      actions={
        <>
          <Button onClick={() => setDialog('set')}>{text.set}</Button>
          <Button kind="main" icon="plus" onClick={() => setDialog('new')}>
            {text.create}
          </Button>
        </>
      }
    >
      <FilterBar
        urlQuery={{ q }}
        onChange={(next) => void navigate({ search: (before) => ({ ...before, ...next }), replace: true })}
        fields={[]}
        searchBox={{ name: 'q', label: text.search }}
      />
      <Panel hasNoPadding>
        <Loaded query={query} what={text.failed} rows={4}>
          {({ all }) => {
            const rows = all.filter(matches);
            if (rows.length === 0) return <Empty title={text.noMatch} />;
            return (
              <>
                <CategoryTable rows={rows} onOpen={open} />
                <ListFoot rows={rows.length}>{text.total(rows.length)}</ListFoot>
              </>
            );
          }}
        </Loaded>
      </Panel>
      {dialog === 'new' && (
        <NewCategory known={query.data?.all ?? []} onCreated={(name) => open({ name })} onClose={close} />
      )}
      {dialog === 'set' && <SetDialog onClose={close} />}
    </Page>
  );
}

function CategoryTable({ rows, onOpen }: { rows: readonly Category[]; onOpen: (category: Category) => void }) {
  const { categories: text } = useText();
  const chosen = useStore(language);
  const columns: readonly Column<Category>[] = [
    { key: 'name', head: text.name, size: 'wide', cell: (category) => <Identity category={category} /> },
    { key: 'channels', head: text.channelsHead, cell: (category) => stepsText(category, text) },
    {
      key: 'defaults',
      head: text.defaultsHead,
      isHiddenIfNarrow: true,
      cell: ({ defaults }) => {
        const off = (['inbox', ...channels] as const).filter((channel) => defaults[channel] === 'off');
        return off.length === 0 ? <None /> : off.map((channel) => text.channels[channel]).join(', ');
      },
    },
  ];
  return (
    <Table
      label={text.title}
      columns={columns}
      rows={rows}
      idOf={({ name }) => name}
      nameOf={(category) => titleOf(category, chosen)}
      onOpen={onOpen}
      compact={(category) => (
        <div className={layout.identity}>
          <Identity category={category} />
          <span className={layout.quiet}>{stepsText(category, text)}</span>
        </div>
      )}
    />
  );
}

function Identity({ category }: { category: Category }) {
  const { categories: text } = useText();
  const title = titleOf(category, useStore(language));
  const isBuiltIn = useIsBuiltIn();
  return (
    <div className={layout.identity}>
      <span className={styles.badges}>
        <UserText strong text={title} />
        {category.is_critical && <Badge kind="label">{text.critical}</Badge>}
      </span>
      <span className={layout.quiet}>
        {title !== category.name && <bdi>{category.name}</bdi>}
        {title !== category.name && isBuiltIn(category.name) && ' · '}
        {isBuiltIn(category.name) && text.builtIn}
      </span>
    </div>
  );
}

/** Whether a category belongs to a notification type, so that it cannot be deleted. */
export function useIsBuiltIn(): (name: string) => boolean {
  const { data } = useQuery(entryQuery);
  return (name) => name === 'security' || (data?.notification_types ?? []).some((type) => type === name);
}
