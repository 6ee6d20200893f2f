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

/** The scopes of a key and its last use, with a button that revokes it. */
export function KeyDetails({ apiKey: key, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { keys: text, common } = useText();
  const { moment } = useFormats();
  const [isAsking, setIsAsking] = useState(false);
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => request<RevokeKeyData, void>('DELETE', '/admin/v1/keys/{id}', { path: { id: key.id } }),
    async onSuccess() {
      toast.done(text.revoked(key.name));
      onClose();
      await client.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  if (isAsking) {
    return (
      <ConfirmDialog
        title={text.revokeTitle(key.name)}
        action={text.revokeAction}
        isDestructive
        confirmText={key.name.trim()}
        busy={revoke.isPending}
        error={revoke.error !== null && <Problem message={text.notRevoked} error={revoke.error} />}
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
      actions={
        <Button kind="warn" changesData onClick={() => setIsAsking(true)}>
          {text.revoke}
        </Button>
      }
    >
      <Facts
        facts={[
          [common.id, <Id key="id" value={key.id} />],
          [text.scopes, key.scopes.map((scope) => text.scopeNames[scope]).join(' · ')],
          [text.lastUsed, <Time key="used" value={key.last_used_at} emptyText={text.never} />],
          [text.expires, <Expiry key="expires" apiKey={key} />],
          [text.created, <Time key="created" value={key.created_at} />],
        ]}
      />
    </Dialog>
  );
}

/** When a key ends. */
export function Expiry({ apiKey: { expires_at: expiresAt } }: { apiKey: ApiKey }) {
  const { keys: text } = useText();
  if (expiresAt === null) return <Time value={null} emptyText={text.never} />;
  if (Date.parse(expiresAt) <= Date.now()) return <Badge kind="off">{text.expired}</Badge>;
  return <Time value={expiresAt} />;
}
