import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Webhook } from '../../api/schema.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { Field, Segments } from '../../components/field/field.js';
import { Problem } from '../../components/state/state.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import { failedDeliveries, replayWebhook, webhookName, webhooksKey } from './queries.js';

/** A time for a field of the browser: local, to the minute. */
function localTime(at: string | number): string {
  const date = new Date(at);
  const twoDigits = (n: number) => String(n).padStart(2, '0');
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  return `${day}T${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

/** The time of a field as the API writes it. Undefined for an empty or incomplete one. */
function timeOf(value: string): string | undefined {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Replays the deliveries that failed, or all events of a time span. */
export function ReplayDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { webhooks: text } = useText();
  const [mode, setMode] = useState<'span' | 'failed'>('span');
  const [from, setFrom] = useState(() =>
    localTime(webhook.failing_since ?? webhook.disabled_at ?? Date.now() - 86_400_000),
  );
  const [to, setTo] = useState('');
  const client = useQueryClient();
  const replay = useMutation({
    async mutationFn() {
      if (mode === 'span') {
        const [start, end] = [timeOf(from), timeOf(to)];
        const body = { from: start, to: end };
        return (await replayWebhook(webhook.id, body)).events;
      }
      const ids = await failedDeliveries(webhook.id, new AbortController().signal);
      return ids.length === 0 ? 0 : (await replayWebhook(webhook.id, { delivery_ids: ids })).events;
    },
    async onSuccess(events) {
      toast.done(events === 0 ? text.nothingToReplay : text.replaying(events));
      onClose();
      await client.invalidateQueries({ queryKey: webhooksKey });
    },
  });
  return (
    <ConfirmDialog
      title={text.replayTitle(webhookName(webhook))}
      action={text.replayAction}
      busy={replay.isPending}
      error={replay.error !== null && <Problem message={text.notReplayed} error={replay.error} />}
      onConfirm={() => replay.mutate()}
      onClose={onClose}
    >
      <div className={layout.stack16}>
        <Segments
          label={text.replayWhat}
          value={mode}
          options={[
            ['span', text.aSpan],
            ['failed', text.theFailed],
          ]}
          onChoose={setMode}
        />
        {mode === 'span' ? (
          <>
            <Field
              label={text.from}
              hint={text.fromHint}
              type="datetime-local"
              value={from}
              onChange={(event) => setFrom(event.currentTarget.value)}
            />
            <Field
              label={text.to}
              hint={text.toHint}
              type="datetime-local"
              value={to}
              onChange={(event) => setTo(event.currentTarget.value)}
            />
          </>
        ) : (
          <p>{text.failedHint}</p>
        )}
        <p className={layout.quiet}>{text.sameIds}</p>
      </div>
    </ConfirmDialog>
  );
}
