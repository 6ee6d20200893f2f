import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import type { TestWebhookData, Webhook, WebhookTest } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { Dialog } from '../../components/dialog/dialog.js';
import { Select } from '../../components/field/field.js';
import { Notice, Problem } from '../../components/state/state.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { type EventType, eventTypes } from './event-choice.js';
import { Answer, Sent } from './exchange.js';
import { webhookName } from './queries.js';

/** Sends the example of an event once, and shows what the server answers. */
export function TestDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { webhooks: text } = useText();
  const [type, setType] = useState<EventType>('user.created');
  const test = useMutation({
    mutationFn: () =>
      request<TestWebhookData, WebhookTest>('POST', '/admin/v1/webhooks/{id}/test', {
        path: { id: webhook.id },
        body: { type },
      }),
  });
  const { data: result, error } = test;
  return (
    <Dialog
      title={text.testTitle(webhookName(webhook))}
      isWide
      onClose={onClose}
      onSubmit={() => {
        if (!test.isPending) test.mutate();
      }}
      actions={
        <Button type="submit" kind="main" icon="send" busy={test.isPending} changesData>
          {result === undefined ? text.testAction : text.testAgain}
        </Button>
      }
    >
      <div className={layout.stack16}>
        <Select
          label={text.event}
          hint={text.testHint}
          value={type}
          options={eventTypes.map((name) => [name, name] as const)}
          onChoose={setType}
        />
        {error !== null && <Problem message={text.notTested} error={error} />}
        {result !== undefined && (
          <>
            <Notice kind={result.ok ? 'good' : 'bad'} live>
              {result.ok ? text.testArrived : text.testFailed}
            </Notice>
            <Answer
              status={result.status}
              answer={result.answer}
              error={result.error}
              duration={result.duration_ms}
              ok={result.ok}
            />
            <Sent title={text.whatWasSent} url={webhook.url} id={idOf(result.request)} body={result.request} />
          </>
        )}
      </div>
    </Dialog>
  );
}

/** The id of an event, which is also the header `webhook-id`. */
function idOf(body: string): string {
  const event = JSON.parse(body) as { readonly id: string };
  return event.id;
}
