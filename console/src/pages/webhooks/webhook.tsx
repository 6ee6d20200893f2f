import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Webhook } from '../../api/schema.js';
import { useShortcuts } from '../../app/keyboard.js';
import { Button } from '../../components/button/button.js';
import { Icon } from '../../components/icon/icon.js';
import { Menu, type MenuItem } from '../../components/menu/menu.js';
import { Page } from '../../components/panel/panel.js';
import { Loaded } from '../../components/state/state.js';
import { toast } from '../../components/toast/toasts.js';
import { useText } from '../../text/text.js';
import { DeleteWebhook, EnableWebhook, RotateSecret } from './confirm-dialogs.js';
import { Deliveries } from './deliveries.js';
import { Health, Trouble } from './health.js';
import { changeWebhook, webhookName, webhookQuery, webhooksKey } from './queries.js';
import { ReplayDialog } from './replay-dialog.js';
import { TestDialog } from './test-dialog.js';
import { WebhookForm } from './webhook-form.js';

/** One webhook, with its deliveries, its problems and its actions. */
export function WebhookPage() {
  const { id } = useParams({ from: '/webhooks/$id' });
  const { webhooks: text } = useText();
  const query = useQuery(webhookQuery(id));
  if (query.data !== undefined) return <WebhookView webhook={query.data} />;
  return (
    <Page title={text.one} breadcrumbs={<Above />}>
      <Loaded query={query} what={text.failedOne} rows={8}>
        {() => null}
      </Loaded>
    </Page>
  );
}

function Above() {
  const { webhooks: text } = useText();
  return (
    <>
      <Link to="/webhooks">{text.title}</Link>
      <Icon name="chevronRight" size={12} />
    </>
  );
}

type DialogName = 'test' | 'rotate' | 'edit' | 'enable' | 'replay' | 'delete';

function WebhookView({ webhook }: { webhook: Webhook }) {
  const { webhooks: text } = useText();
  const [dialog, setDialog] = useState<DialogName>();
  const client = useQueryClient();
  const close = () => setDialog(undefined);
  const refresh = () => client.invalidateQueries({ queryKey: webhooksKey });
  const pause = () =>
    void changeWebhook(webhook.id, { enabled: false })
      .then(() =>
        toast.done(text.paused, {
          name: text.resume,
          run: () =>
            void changeWebhook(webhook.id, { enabled: true })
              .catch((error: unknown) => toast.failed(text.notChanged, error))
              .then(refresh),
        }),
      )
      .catch((error: unknown) => toast.failed(text.notChanged, error))
      .then(refresh);
  const group = 'thisPage' as const;
  useShortcuts([
    { keys: 't', name: text.test, group, run: () => setDialog('test') },
    { keys: 'e', name: text.edit, group, run: () => setDialog('edit') },
    { keys: 'r', name: text.replay, group, run: () => setDialog('replay') },
  ]);
  const items: MenuItem[] = [
    { name: text.edit, icon: 'pencil', run: () => setDialog('edit') },
    webhook.enabled
      ? { name: text.pause, icon: 'pause', changesData: true, run: pause }
      : { name: text.enable, icon: 'play', run: () => setDialog('enable') },
    { name: text.delete, icon: 'trash', destructive: true, run: () => setDialog('delete') },
  ];
  return (
    <Page
      title={webhookName(webhook)}
      breadcrumbs={<Above />}
      actions={
        <>
          <Button icon="send" onClick={() => setDialog('test')}>
            {text.test}
          </Button>
          <Button icon="key" onClick={() => setDialog('rotate')}>
            {text.rotate}
          </Button>
          <Menu label={text.more} items={items} />
        </>
      }
    >
      <Trouble webhook={webhook} onReplay={() => setDialog('replay')} onEnable={() => setDialog('enable')} />
      <Health webhook={webhook} />
      <Deliveries webhook={webhook} onReplay={() => setDialog('replay')} />
      {dialog === 'test' && <TestDialog webhook={webhook} onClose={close} />}
      {dialog === 'rotate' && <RotateSecret webhook={webhook} onClose={close} />}
      {dialog === 'edit' && <EditWebhook webhook={webhook} onClose={close} />}
      {dialog === 'enable' && <EnableWebhook webhook={webhook} onClose={close} />}
      {dialog === 'replay' && <ReplayDialog webhook={webhook} onClose={close} />}
      {dialog === 'delete' && (
        <DeleteWebhook webhook={webhook} onPause={webhook.enabled ? pause : undefined} onClose={close} />
      )}
    </Page>
  );
}

function EditWebhook({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { webhooks: text } = useText();
  const { id, url, description, events, filter, payload } = webhook;
  return (
    <WebhookForm
      title={text.editTitle(webhookName(webhook))}
      action={text.save}
      failed={text.notChanged}
      draft={`webhook.${id}`}
      initial={{ url, description, events, filter, payload }}
      save={(fields) => changeWebhook(id, fields)}
      onSaved={() => {
        toast.done(text.changed);
        onClose();
      }}
      onClose={onClose}
    />
  );
}
