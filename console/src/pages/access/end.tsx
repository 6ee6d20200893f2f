import { Badge } from '../../components/badge/badge.js';
import { Time } from '../../components/text/values.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import styles from './access.module.css';

/** When something ends, and how long it still lasts. @param never the words if it does not end */
export function End({ time, never }: { time: string | null; never?: string }) {
  const { access: text } = useText();
  const { duration } = useFormats();
  if (time === null) return <Time value={null} {...(never !== undefined && { emptyText: never })} />;
  const left = Date.parse(time) - Date.now();
  if (left <= 0) return <Badge kind="off">{text.ended}</Badge>;
  return (
    <span className={styles.end}>
      <Time value={time} /> <span className={layout.faint}>{text.left(duration(left))}</span>
    </span>
  );
}
