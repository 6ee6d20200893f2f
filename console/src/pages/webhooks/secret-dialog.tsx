import { Button } from '../../components/button/button.js';
import { Dialog } from '../../components/dialog/dialog.js';
import { Secret } from '../../components/text/values.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';

/** Shows a secret once. Only its button closes it, so that an accidental click does not lose the secret. */
export function SecretDialog({ title, secret, onClose }: { title: string; secret: string; onClose: () => void }) {
  const { webhooks: text } = useText();
  return (
    <Dialog
      title={title}
      closing="button"
      onClose={onClose}
      footer={
        <Button kind="main" onClick={onClose}>
          {text.copiedSecret}
        </Button>
      }
    >
      <Secret label={text.shownOnce} value={secret} note={<p className={layout.quiet}>{text.keepIt}</p>} />
    </Dialog>
  );
}
