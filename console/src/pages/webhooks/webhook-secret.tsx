import { SecretDialog } from '../../components/dialog/secret-dialog.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';

/** Shows the signing secret of a webhook once. */
export function WebhookSecret({ title, secret, onClose }: { title: string; secret: string; onClose: () => void }) {
  const { webhooks: text } = useText();
  return (
    <SecretDialog
      title={title}
      action={text.copiedSecret}
      onClose={onClose}
      label={text.shownOnce}
      value={secret}
      note={<p className={layout.quiet}>{text.keepIt}</p>}
    />
  );
}
