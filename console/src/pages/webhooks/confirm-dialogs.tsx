import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import type {
  DeleteWebhookData,
  RotateWebhookSecretData,
  RotateWebhookSecretResponse,
  Webhook,
} from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { Checkbox } from '../../components/field/field.js';
import { Problem } from '../../components/state/state.js';
import { toast } from '../../components/toast/toasts.js';
import { useFormats, useText } from '../../text/text.js';
import { changeWebhook, replayWebhook, webhookName, webhooksKey } from './queries.js';
import { WebhookSecret } from './webhook-secret.js';
import styles from './webhooks.module.css';

interface WebhookDialogProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

/** Asks, replaces the secret, and shows the new one once. */
export function RotateSecret({ webhook, onClose }: WebhookDialogProps) {
  const { webhooks: text } = useText();
  const { moment } = useFormats();
  const client = useQueryClient();
  const [secret, setSecret] = useState<string>();
  const rotate = useMutation({
    mutationFn: () =>
      request<RotateWebhookSecretData, RotateWebhookSecretResponse>('POST', '/admin/v1/webhooks/{id}/rotate-secret', {
        path: { id: webhook.id },
        headers: { 'Idempotency-Key': crypto.randomUUID() },
      }),
    async onSuccess(rotated) {
      setSecret(rotated.secret);
      await client.invalidateQueries({ queryKey: webhooksKey });
    },
  });
  if (secret !== undefined) return <WebhookSecret title={webhookName(webhook)} secret={secret} onClose={onClose} />;
  const until = webhook.previous_secret_until;
  return (
    <ConfirmDialog
      title={text.rotateTitle(webhookName(webhook))}
      action={text.rotateAction}
      busy={rotate.isPending}
      error={rotate.error !== null && <Problem message={text.notRotated} error={rotate.error} />}
      onConfirm={() => rotate.mutate()}
      onClose={onClose}
    >
      <p>{text.rotateWhat}</p>
      {until !== null && <p className={styles.bad}>{text.rotateAgain(moment(until))}</p>}
    </ConfirmDialog>
  );
}

/** Enables a webhook. On request, it replays the events since the webhook was disabled. */
export function EnableWebhook({ webhook, onClose }: WebhookDialogProps) {
  const { webhooks: text } = useText();
  const { moment } = useFormats();
  const client = useQueryClient();
  const [replays, setReplays] = useState(true);
  const { id, disabled_at: since } = webhook;
  const enable = useMutation({
    async mutationFn() {
      await changeWebhook(id, { enabled: true });
      if (replays && since !== null) await replayWebhook(id, { from: since });
    },
    onSuccess() {
      toast.done(text.enabled);
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: webhooksKey }),
  });
  return (
    <ConfirmDialog
      title={text.enableTitle(webhookName(webhook))}
      action={text.enableAction}
      busy={enable.isPending}
      error={enable.error !== null && <Problem message={text.notChanged} error={enable.error} />}
      onConfirm={() => enable.mutate()}
      onClose={onClose}
    >
      <p>{text.enableWhat}</p>
      {since !== null && (
        <Checkbox
          label={text.alsoReplay(moment(since))}
          checked={replays}
          onChange={() => setReplays((before) => !before)}
        />
      )}
    </ConfirmDialog>
  );
}

/** Deletes a webhook after its name was typed. `onPause`: the less destructive alternative. */
export function DeleteWebhook({
  webhook,
  onPause,
  onClose,
}: WebhookDialogProps & { onPause: (() => void) | undefined }) {
  const { webhooks: text } = useText();
  const navigate = useNavigate();
  const client = useQueryClient();
  const name = webhookName(webhook);
  const remove = useMutation({
    mutationFn: () =>
      request<DeleteWebhookData, void>('DELETE', '/admin/v1/webhooks/{id}', { path: { id: webhook.id } }),
    async onSuccess() {
      toast.done(text.deleted(name));
      client.removeQueries({ queryKey: [...webhooksKey, 'one', webhook.id] });
      await navigate({ to: '/webhooks', search: {} });
      await client.invalidateQueries({ queryKey: [...webhooksKey, 'all'] });
    },
  });
  return (
    <ConfirmDialog
      title={text.deleteTitle(name)}
      action={text.deleteAction}
      isDestructive
      confirmText={name}
      busy={remove.isPending}
      error={remove.error !== null && <Problem message={text.notDeleted} error={remove.error} />}
      alternative={
        onPause && (
          <>
            {text.pauseInstead}{' '}
            <Button
              small
              changesData
              onClick={() => {
                onPause();
                onClose();
              }}
            >
              {text.pause}
            </Button>
          </>
        )
      }
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>{text.deleteWhat(webhook.pending)}</p>
    </ConfirmDialog>
  );
}
