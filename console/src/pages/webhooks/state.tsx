import type { Webhook } from '../../api/schema.js';
import { Badge } from '../../components/badge/badge.js';
import { Time } from '../../components/text/values.js';
import { useText } from '../../text/text.js';
import { stateOf } from './queries.js';
import styles from './webhooks.module.css';

/** The state of a webhook. Unusual states have a badge. */
export function State({ webhook }: { webhook: Webhook }) {
  const { webhooks: text } = useText();
  const state = stateOf(webhook);
  if (state === 'paused') return <Badge kind="off">{text.states.paused}</Badge>;
  if (state === 'disabled') return <Badge kind="bad">{text.states.disabled}</Badge>;
  if (state === 'failing') {
    return (
      <Badge kind="bad">
        {text.states.failing} <Time value={webhook.failing_since} />
      </Badge>
    );
  }
  return <span className={styles.normal}>{text.states[state]}</span>;
}
