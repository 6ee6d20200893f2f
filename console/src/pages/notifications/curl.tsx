import { Dialog } from '../../components/dialog/dialog.js';
import { Secret } from '../../components/text/values.js';
import { useText } from '../../text/text.js';
import type { Content } from './content.js';

/** People in the command at most. */
const most = 100;

interface CurlProps {
  readonly content: Content;
  readonly ids: readonly string[];
  readonly onClose: () => void;
}

/** The same request for a shell. */
export function Curl({ content, ids, onClose }: CurlProps) {
  const { curl } = useText().notifications;
  const some = ids.slice(0, most);
  const [only] = some;
  const isOne = some.length === 1;
  const body = isOne ? { user_id: only, ...content } : [{ user_ids: some, ...content }];
  const path = `/admin/v1/notifications${isOne ? '' : '/batch'}`;
  const command = [
    `curl ${quoted(`${window.location.origin}${path}`)}`,
    `-H "Authorization: Bearer $POSTERN_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-H ${quoted(`Idempotency-Key: ${crypto.randomUUID()}`)}`,
    `--data-raw ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n  ');
  return (
    <Dialog title={curl.title} wide onClose={onClose}>
      <p>
        {curl.what} {ids.length > most && curl.few(most)}
      </p>
      <Secret label="curl" of={command} />
    </Dialog>
  );
}

/** One word of a POSIX shell, whatever it contains. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
