import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import { ProblemError } from '../../api/problem.js';
import type { Block, CreateBlockData } from '../../api/schema.js';
import { FormDialog } from '../../components/dialog/dialog.js';
import { Checkbox, Field, Select } from '../../components/field/field.js';
import { Notice, Problem } from '../../components/state/state.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';

const hours = { never: undefined, hour: 1, day: 24, week: 7 * 24, month: 30 * 24 } as const;
type Ending = keyof typeof hours | 'keep';
const endings = Object.keys(hours) as readonly (keyof typeof hours)[];
const msPerHour = 3_600_000;

/** Blocks an address, or changes the reason and the end of a block: the API replaces a block of the same range. */
export function BlockForm({ block, onClose }: { block?: Block; onClose: () => void }) {
  const { access } = useText();
  const { moment } = useFormats();
  const text = access.blocks;
  const client = useQueryClient();
  const end = block?.ends_at ?? null;
  const keepsEnd = end !== null && Date.parse(end) > Date.now();
  const [address, setAddress] = useState(block?.address ?? '');
  const [reason, setReason] = useState(block?.reason ?? '');
  const [ending, setEnding] = useState<Ending>(keepsEnd ? 'keep' : 'never');
  const [allowsOwnAddress, setAllowsOwn] = useState(false);
  const save = useMutation({
    mutationFn: () => {
      const durationHours = ending === 'keep' ? undefined : hours[ending];
      const until = durationHours === undefined ? null : new Date(Date.now() + durationHours * msPerHour).toISOString();
      const body = {
        address: address.trim(),
        reason: reason.trim() === '' ? null : reason.trim(),
        ends_at: ending === 'keep' ? end : until,
        ...(allowsOwnAddress && { allow_own: true }),
      };
      return request<CreateBlockData, Block>('POST', '/admin/v1/blocks', { body });
    },
    async onSuccess(saved) {
      toast.done(text.blocked(saved.address));
      onClose();
      await client.invalidateQueries({ queryKey: ['blocks'] });
    },
  });
  const { error } = save;
  const isOwn = error instanceof ProblemError && error.code === 'own_address';
  const addressError = !isOwn && error instanceof ProblemError ? error.messageFor('address') : undefined;
  const isReady = address.trim() !== '' && (!isOwn || allowsOwnAddress);
  const options: (readonly [Ending, string])[] = endings.map((name) => [name, text.endings[name]] as const);
  if (keepsEnd) options.unshift(['keep', text.keepEnd(moment(end))]);
  return (
    <FormDialog
      title={block === undefined ? text.createTitle : text.changeTitle(block.address)}
      action={block === undefined ? text.createAction : text.changeAction}
      isDestructive={isOwn}
      isReady={isReady}
      busy={save.isPending}
      onClose={onClose}
      onSubmit={() => save.mutate()}
    >
      <div className={layout.stack16}>
        {block === undefined && (
          <Field
            label={access.address}
            hint={text.addressHint}
            error={addressError}
            value={address}
            maxLength={64}
            verbatim
            onChange={(event) => {
              setAddress(event.currentTarget.value);
              setAllowsOwn(false);
              save.reset();
            }}
          />
        )}
        <Field
          label={text.reason}
          hint={text.reasonHint}
          value={reason}
          maxLength={1024}
          autoComplete="off"
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Select label={text.ends} value={ending} options={options} onChoose={setEnding} />
        {isOwn && (
          <Notice kind="warn" live>
            <p>{text.own}</p>
            <Checkbox
              label={text.ownAnyway}
              checked={allowsOwnAddress}
              onChange={(event) => setAllowsOwn(event.currentTarget.checked)}
            />
          </Notice>
        )}
        {error !== null && !isOwn && addressError === undefined && <Problem message={text.notBlocked} error={error} />}
      </div>
    </FormDialog>
  );
}
