import { Id } from '../../components/text/id.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import styles from './webhooks.module.css';

/** A body as lines: JSON is indented, and anything else stays as it is. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

interface SentProps {
  readonly title: string;
  readonly url: string;
  /** The header `webhook-id`. */
  readonly id: string;
  /** Null: the event is no longer stored. */
  readonly body: string | null;
}

/** The request: its line, the header that identifies the event, and the body. */
export function Sent({ title, url, id, body }: SentProps) {
  const { webhooks: text } = useText();
  const path = URL.canParse(url) ? `${new URL(url).pathname}${new URL(url).search}` : url;
  return (
    <div className={styles.exchange}>
      <div className={styles.exchangeHead}>
        <p className={layout.label}>{title}</p>
        {body !== null && <Id hidesValue value={body} name={text.body} />}
      </div>
      <pre className={styles.well}>
        {`POST ${path}\nwebhook-id: ${id}\n\n`}
        {body === null ? text.bodyGone : readable(body)}
      </pre>
    </div>
  );
}

interface AnswerProps {
  readonly status: number | null;
  readonly answer: string | null;
  readonly error: string | null;
  /** The duration of the request in milliseconds. */
  readonly duration: number | null;
  readonly ok: boolean;
}

/** What the server answered, or why there is no answer. */
export function Answer({ status, answer, error, duration, ok }: AnswerProps) {
  const { webhooks: text } = useText();
  const { number } = useFormats();
  return (
    <div className={styles.exchange}>
      <p className={layout.label}>
        {status === null ? text.noAnswer : text.answered(number(duration ?? 0))}{' '}
        {status !== null && <span className={ok ? styles.delivered : styles.failed}>{status}</span>}
      </p>
      {error !== null && status === null && <p className={styles.bad}>{error}</p>}
      {status !== null && (
        <pre className={styles.well}>{answer === null || answer === '' ? text.emptyAnswer : readable(answer)}</pre>
      )}
    </div>
  );
}
