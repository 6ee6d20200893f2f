import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { request } from '../../api/client.js';
import type { CreateWebhookData, IssuedWebhook } from '../../api/schema.js';
import { useText } from '../../text/text.js';
import { webhookName } from './queries.js';
import { type WebhookFields, WebhookForm } from './webhook-form.js';
import { WebhookSecret } from './webhook-secret.js';

const empty: WebhookFields = { url: '', description: '', events: [], filter: '', payload: 'thin' };

const create = (body: WebhookFields) =>
  request<CreateWebhookData, IssuedWebhook>('POST', '/admin/v1/webhooks', {
    body,
    headers: { 'Idempotency-Key': crypto.randomUUID() },
  });

/** The form for a webhook, and then its secret, once. */
export function NewWebhook({ onClose }: { onClose: () => void }) {
  const { webhooks: text } = useText();
  const navigate = useNavigate();
  const [issued, setIssued] = useState<IssuedWebhook>();
  if (issued === undefined) {
    return (
      <WebhookForm
        title={text.createTitle}
        action={text.createAction}
        failed={text.notCreated}
        draft="webhook"
        initial={empty}
        save={create}
        onSaved={setIssued}
        onClose={onClose}
      />
    );
  }
  return (
    <WebhookSecret
      title={webhookName(issued)}
      secret={issued.secret}
      onClose={() => {
        onClose();
        void navigate({ to: '/webhooks/$id', params: { id: issued.id }, search: {} });
      }}
    />
  );
}
