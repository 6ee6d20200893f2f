import { Dialog } from '../../components/dialog/dialog.js';
import { Secret } from '../../components/text/values.js';
import { rootPath } from '../../lib/root.js';
import { useText } from '../../text/text.js';
import type { Content } from './content.js';

/** The maximum number of people in the command. */
const maxPeople = 100;

interface CurlProps {
  readonly content: Content;
  readonly ids: readonly string[];
  readonly onClose: () => void;
}

/** The request that publishes the notification, as a command for a shell. */
export function Curl({ content, ids, onClose }: CurlProps) {
  const { curl } = useText().notifications;
  const shownIds = ids.slice(0, maxPeople);
  const [firstId] = shownIds;
  const isOne = shownIds.length === 1;
  const body = isOne ? { user_id: firstId, ...content } : [{ user_ids: shownIds, ...content }];
  const path = `/admin/v1/notifications${isOne ? '' : '/batch'}`;
  const command = [
    `curl ${quoted(`${window.location.origin}${rootPath}${path}`)}`,
    `-H "Authorization: Bearer $API_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-H ${quoted(`Idempotency-Key: ${crypto.randomUUID()}`)}`,
    `--data-raw ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n  ');
  return (
    <Dialog title={curl.title} isWide onClose={onClose}>
      <p>
        {curl.what} {ids.length > maxPeople && curl.few(maxPeople)}
      </p>
      <Secret label="curl" value={command} />
    </Dialog>
  );
}

/** One word of a POSIX shell, whatever it contains. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
