import type { ReactNode } from 'react';
import { Button } from '../button/button.js';
import { Secret } from '../text/values.js';
import { Dialog } from './dialog.js';

interface SecretDialogProps {
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly note: ReactNode;
  /** The text of the button. */
  readonly action: string;
  readonly onClose: () => void;
}

/** Shows a secret once. Only its button closes it, so that an accidental click does not lose the secret. */
export function SecretDialog({ title, action, onClose, ...secret }: SecretDialogProps) {
  return (
    <Dialog
      title={title}
      closing="button"
      onClose={onClose}
      footer={
        <Button kind="main" onClick={onClose}>
          {action}
        </Button>
      }
    >
      <Secret {...secret} />
    </Dialog>
  );
}
