import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import type { ApiKey, RevokeKeyData } from '../../api/schema.js';
import { Badge } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { ConfirmDialog, Dialog } from '../../components/dialog/dialog.js';
import { Facts } from '../../components/panel/panel.js';
import { Problem } from '../../components/state/state.js';
import { Id } from '../../components/text/id.js';
import { Time } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import { useFormats, useText } from '../../text/text.js';

/** What a key may do and when it was used, and the way to revoke it. */
export function KeyDetails({ of: key, onClose }: { of: ApiKey; onClose: () => void }) {
  const { keys: text, common } = useText();
  const { moment } = useFormats();
  const [asks, setAsks] = useState(false);
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => request<RevokeKeyData, void>('DELETE', '/admin/v1/keys/{id}', { path: { id: key.id } }),
    async onSuccess() {
      toast.done(text.revoked(key.name));
      onClose();
      await client.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  if (asks) {
    return (
      <ConfirmDialog
        title={text.revokeTitle(key.name)}
        action={text.revokeAction}
        destructive
        typed={key.name.trim()}
        busy={revoke.isPending}
        error={revoke.error !== null && <Problem what={text.notRevoked} error={revoke.error} />}
        onConfirm={() => revoke.mutate()}
        onClose={onClose}
      >
        <p>{key.last_used_at === null ? text.neverUsed : text.lastUse(moment(key.last_used_at))}</p>
        <p>{text.revokeWhy}</p>
      </ConfirmDialog>
    );
  }
  return (
    <Dialog
      title={key.name}
      onClose={onClose}
      foot={
        <>
          <Button data-cancel onClick={onClose}>
            {common.close}
          </Button>
          <Button kind="warn" changes onClick={() => setAsks(true)}>
            {text.revoke}
          </Button>
        </>
      }
    >
      <Facts
        of={[
          [common.id, <Id key="id" of={key.id} />],
          [text.scopes, key.scopes.map((scope) => text.scopeNames[scope]).join(' · ')],
          [text.lastUsed, <Time key="used" at={key.last_used_at} never={text.never} />],
          [text.expires, <Expiry key="expires" of={key} />],
          [text.created, <Time key="created" at={key.created_at} />],
        ]}
      />
    </Dialog>
  );
}

/** When a key ends. */
export function Expiry({ of: { expires_at: at } }: { of: ApiKey }) {
  const { keys: text } = useText();
  if (at === null) return <Time at={null} never={text.never} />;
  if (Date.parse(at) <= Date.now()) return <Badge kind="off">{text.expired}</Badge>;
  return <Time at={at} />;
}
