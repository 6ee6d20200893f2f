import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import type {
  GetBlockPageData,
  GetBlockPageResponse,
  GetTestIdentityPageData,
  GetTestIdentityPageResponse,
} from '../../api/schema.js';
import { useShortcuts } from '../../app/keyboard.js';
import { Button } from '../../components/button/button.js';
import { Segments } from '../../components/field/field.js';
import { Page } from '../../components/panel/panel.js';
import { ExportMenu } from '../../components/table/export-menu.js';
import { useText } from '../../text/text.js';
import styles from './access.module.css';
import { BlockForm } from './block-form.js';
import { BlockList } from './block-list.js';
import { NewTestIdentity } from './new-test-identity.js';
import { TestIdentityList } from './test-identity-list.js';

/** The columns of the CSV files. */
const csvColumns = {
  blocks: ['address', 'reason', 'ends_at', 'created_by', 'created_at', 'id'],
  tests: ['identity', 'user_id', 'expires_at', 'created_by', 'created_at', 'id'],
} as const;

/** Addresses that are refused, and addresses that take a fixed code. */
export function Access() {
  const { access: text } = useText();
  const query = useSearch({ from: '/access' });
  const navigate = useNavigate({ from: '/access' });
  const [isCreating, setIsCreating] = useState(false);
  const view = query.view === 'tests' ? 'tests' : 'blocks';
  const create = () => setIsCreating(true);
  useShortcuts([{ keys: 'c', name: text[view].create, group: 'thisPage', run: create }]);
  return (
    <Page
      title={text.title}
      actions={
        <>
          {view === 'blocks' ? (
            <ExportMenu key="blocks" name="blocks" columns={csvColumns.blocks} read={readBlocks(100)} />
          ) : (
            <ExportMenu key="tests" name="test-identities" columns={csvColumns.tests} read={readTests(100)} />
          )}
          <Button kind="main" icon="plus" onClick={create}>
            {text[view].create}
          </Button>
        </>
      }
    >
      <div className={styles.view}>
        <Segments
          label={text.view}
          value={view}
          options={(['blocks', 'tests'] as const).map((name) => [name, text[name].title] as const)}
          onChoose={(next) => void navigate({ search: next === 'blocks' ? {} : { view: next }, replace: true })}
        />
      </div>
      {view === 'blocks' ? <BlockList read={readBlocks(50)} /> : <TestIdentityList read={readTests(50)} />}
      {isCreating && view === 'blocks' && <BlockForm onClose={() => setIsCreating(false)} />}
      {isCreating && view === 'tests' && <NewTestIdentity onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

const readBlocks = (limit: number) => (cursor: string | undefined, signal: AbortSignal, filter?: string) =>
  request<GetBlockPageData, GetBlockPageResponse>('GET', '/admin/v1/blocks/page', {
    query: { limit, cursor, filter },
    signal,
  });

const readTests = (limit: number) => (cursor: string | undefined, signal: AbortSignal) =>
  request<GetTestIdentityPageData, GetTestIdentityPageResponse>('GET', '/admin/v1/test-identities/page', {
    query: { limit, cursor },
    signal,
  });
