import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { useList } from '../../api/pages.js';
import type { Block, CreateBlockData, DeleteBlockData, GetBlockPageResponse } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { Dialog } from '../../components/dialog/dialog.js';
import { FilterBar } from '../../components/filter/filter-bar.js';
import { Facts } from '../../components/panel/panel.js';
import { ListPanel } from '../../components/table/list-panel.js';
import type { Column } from '../../components/table/row.js';
import { Id } from '../../components/text/id.js';
import { None, Time, UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { filterValue } from '../../lib/filter-value.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { BlockForm } from './block-form.js';
import { End } from './end.js';

interface BlockListProps {
  readonly read: (cursor: string | undefined, signal: AbortSignal, filter?: string) => Promise<GetBlockPageResponse>;
}

/** The blocked addresses and ranges, newest first. */
export function BlockList({ read }: BlockListProps) {
  const { access: text } = useText();
  const { q } = useSearch({ from: '/access' });
  const navigate = useNavigate({ from: '/access' });
  const [openBlock, setOpenBlock] = useState<{ readonly block: Block; readonly changes: boolean }>();
  const close = () => setOpenBlock(undefined);
  const list = useList<Block, GetBlockPageResponse>({
    key: ['blocks', q ?? ''],
    read: (cursor, signal) => read(cursor, signal, q === undefined ? undefined : `address:like:${filterValue(q)}`),
    // Another operator may create or delete one.
    refreshMs: 15_000,
  });
  const columns: readonly Column<Block>[] = [
    { key: 'address', head: text.address, cell: ({ address }) => <UserText strong text={address} /> },
    { key: 'reason', head: text.blocks.reason, size: 'wide', cell: ({ reason }) => <Reason reason={reason} /> },
    { key: 'ends', head: text.ends, cell: ({ ends_at }) => <End time={ends_at} never={text.blocks.never} /> },
    {
      key: 'created',
      head: text.created,
      isHiddenIfNarrow: true,
      cell: ({ created_at }) => <Time value={created_at} />,
    },
  ];
  return (
    <>
      <FilterBar
        urlQuery={{ q }}
        onChange={(next) => void navigate({ search: (before) => ({ ...before, ...next }), replace: true })}
        fields={[]}
        searchBox={{ name: 'q', label: text.blocks.search }}
      />
      <ListPanel
        list={list}
        text={text.blocks}
        isFiltered={q !== undefined}
        label={text.blocks.title}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={({ address }) => address}
        onOpen={(block) => setOpenBlock({ block, changes: false })}
        compact={(block) => (
          <div className={layout.stack2}>
            <UserText strong text={block.address} />
            {block.reason !== null && <UserText quiet text={block.reason} />}
            <span className={layout.faint}>
              {text.ends}: <End time={block.ends_at} never={text.blocks.never} />
            </span>
          </div>
        )}
      />
      {openBlock?.changes === false && (
        <BlockDetails
          block={openBlock.block}
          onChange={() => setOpenBlock({ ...openBlock, changes: true })}
          onClose={close}
        />
      )}
      {openBlock?.changes === true && <BlockForm block={openBlock.block} onClose={close} />}
    </>
  );
}

function Reason({ reason }: { reason: string | null }) {
  return reason === null ? <None /> : <UserText quiet text={reason} />;
}

interface BlockDetailsProps {
  readonly block: Block;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

function BlockDetails({ block, onChange, onClose }: BlockDetailsProps) {
  const { access: text, common } = useText();
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ['blocks'] });
  const { address, reason, ends_at } = block;
  const again = useMutation({
    mutationFn: () =>
      request<CreateBlockData, Block>('POST', '/admin/v1/blocks', { body: { address, reason, ends_at } }),
    onSuccess: refresh,
    onError: (error) => toast.failed(text.blocks.notBlocked, error),
  });
  const remove = useMutation({
    mutationFn: () => request<DeleteBlockData, void>('DELETE', '/admin/v1/blocks/{id}', { path: { id: block.id } }),
    async onSuccess() {
      const hasEnded = ends_at !== null && Date.parse(ends_at) <= Date.now();
      const undo = { name: common.undo, run: () => again.mutate() };
      toast.done(text.blocks.unblocked(address), hasEnded ? undefined : undo);
      onClose();
      await refresh();
    },
    onError: (error) => toast.failed(text.blocks.notUnblocked, error),
  });
  return (
    <Dialog
      title={address}
      onClose={onClose}
      actions={
        <>
          <Button changesData onClick={onChange}>
            {text.blocks.change}
          </Button>
          <Button kind="warn" changesData busy={remove.isPending} onClick={() => remove.mutate()}>
            {text.blocks.unblock}
          </Button>
        </>
      }
    >
      <Facts
        facts={[
          [text.blocks.reason, <Reason key="reason" reason={reason} />],
          [text.ends, <End key="ends" time={ends_at} never={text.blocks.never} />],
          [text.createdBy, <Id key="by" value={block.created_by} />],
          [text.created, <Time key="created" value={block.created_at} />],
          [common.id, <Id key="id" value={block.id} />],
        ]}
      />
    </Dialog>
  );
}
