import { Badge } from '../../components/badge/badge.js';
import { Time } from '../../components/text/values.js';
import { useFormats, useText } from '../../text/text.js';
import styles from './access.module.css';

/** When something ends, and how long it still lasts. @param never the words if it does not end */
export function End({ at, never }: { at: string | null; never?: string }) {
  const { access: text } = useText();
  const { duration } = useFormats();
  if (at === null) return <Time at={null} {...(never !== undefined && { never })} />;
  const left = Date.parse(at) - Date.now();
  if (left <= 0) return <Badge kind="off">{text.ended}</Badge>;
  return (
    <span className={styles.end}>
      <Time at={at} /> <span className={styles.quiet}>{text.left(duration(left))}</span>
    </span>
  );
}
