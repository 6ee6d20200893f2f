import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Webhook, WebhookDelivery } from '../../api/schema.js';
import { noUserId } from '../../api/users.js';
import { useHasScope } from '../../app/operator.js';
import { Button } from '../../components/button/button.js';
import { Facts } from '../../components/panel/panel.js';
import { Id } from '../../components/text/id.js';
import { Num, Time, UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import { Answer, Sent } from './exchange.js';
import { replayWebhook, webhooksKey } from './queries.js';
import styles from './webhooks.module.css';

interface DeliveryPanelProps {
  readonly webhook: Webhook;
  readonly delivery: WebhookDelivery;
  /** The displayed name of the user. */
  readonly user: string;
  readonly onClose: () => void;
}

/** One delivery: what was sent, what the server answered, and when it is tried again. */
export function DeliveryPanel({ webhook, delivery, user, onClose }: DeliveryPanelProps) {
  const { webhooks: text, common } = useText();
  const { time } = useFormats();
  const can = useHasScope();
  const client = useQueryClient();
  const replay = useMutation({
    mutationFn: () => replayWebhook(webhook.id, { delivery_ids: [delivery.id] }),
    onSuccess: ({ events }) => {
      if (events > 0) toast.done(text.replayed);
      else toast.failed(text.eventGone, undefined);
    },
    onError: (error) => toast.failed(text.notReplayed, error),
    onSettled: () => client.invalidateQueries({ queryKey: webhooksKey }),
  });
  const { state, attempts, last_attempt_at: tried, next_attempt_at: next } = delivery;
  const waits = state === 'pending' && (next === null ? text.waitsForOthers : text.nextTry(time(next)));
  const person = (
    <span className={styles.person}>
      {can('users:read') ? (
        <Link to="/users/$id" params={{ id: delivery.user_id }} search={{}}>
          <UserText text={user} />
        </Link>
      ) : (
        <UserText text={user} />
      )}
      <Id short value={delivery.user_id} name={text.userId} />
    </span>
  );
  return (
    <section className={styles.delivery} aria-label={delivery.type}>
      <header className={styles.deliveryHead}>
        <h3>{delivery.type}</h3>
        <Button small changesData icon="refresh" busy={replay.isPending} onClick={() => replay.mutate()}>
          {text.replayOne}
        </Button>
        <Button small kind="ghost" icon="cross" label={common.close} onClick={onClose} />
      </header>
      <Facts
        facts={[
          ...(delivery.user_id === noUserId ? [] : [[text.user, person] as const]),
          [text.sequence, <Num key="sequence" value={delivery.sequence} />],
          [text.recorded, <Time key="created" value={delivery.created_at} focusable />],
          [text.tries, <Num key="tries" value={attempts} />],
        ]}
      />
      <Sent
        title={tried === null ? text.willSend : text.sent(time(tried), attempts)}
        url={webhook.url}
        id={delivery.event_id}
        body={delivery.request}
      />
      {webhook.payload === 'full' && <p className={layout.quiet}>{text.withoutResource}</p>}
      {attempts > 0 && (
        <Answer
          status={delivery.status}
          answer={delivery.answer}
          error={state === 'delivered' ? null : delivery.error}
          duration={delivery.duration_ms}
          ok={state === 'delivered'}
        />
      )}
      {waits !== false && <p className={layout.quiet}>{waits}</p>}
    </section>
  );
}
