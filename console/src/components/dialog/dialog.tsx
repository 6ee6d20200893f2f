import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { cx } from '../../lib/cx.js';
import { useText } from '../../text/text.js';
import { Button } from '../button/button.js';
import { Field } from '../field/field.js';
import styles from './dialog.module.css';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** The buttons. Without them the dialog has a button that closes it. */
  readonly foot?: ReactNode;
  readonly wide?: boolean;
  /** It cannot be closed: something has to be answered first. */
  readonly modal?: 'closable' | 'required';
  /** With a form, Enter submits. */
  readonly onSubmit?: () => void;
}

/** A native modal dialog: it keeps the focus, Esc closes it, and the focus returns to where it was. Mount it to open it. */
export function Dialog(props: DialogProps) {
  const { title, onClose, children, foot, wide = false, modal = 'closable', onSubmit } = props;
  const text = useText();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    if (element === null || element.open) return;
    element.showModal();
    const places = ['[data-first-focus]', 'input:not([type=hidden]), textarea, select', '[data-cancel]'];
    const first = places.map((place) => element.querySelector<HTMLElement>(place)).find((found) => found !== null);
    first?.focus();
    return () => {
      element.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);

  const content = (
    <>
      <div className={styles.body}>
        <h2 id={id} className={styles.title}>
          {title}
        </h2>
        {children}
      </div>
      <footer className={styles.foot}>
        {foot ?? (
          <Button data-cancel onClick={onClose}>
            {text.common.close}
          </Button>
        )}
      </footer>
    </>
  );
  return (
    <dialog
      ref={dialog}
      className={cx(styles.dialog, wide && styles.wide)}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (modal === 'closable') onClose();
      }}
      onMouseDown={(event) => {
        // A click whose target is the dialog itself is outside of its content.
        if (event.target === event.currentTarget && modal === 'closable') onClose();
      }}
    >
      {onSubmit === undefined ? (
        <div className={styles.frame}>{content}</div>
      ) : (
        <form
          className={styles.frame}
          noValidate
          onSubmit={(event: FormEvent) => {
            event.preventDefault();
            onSubmit();
          }}
        >
          {content}
        </form>
      )}
    </dialog>
  );
}

interface ConfirmProps {
  /** The question, with the name: "Erase Grace Hopper?" */
  readonly title: string;
  /** What happens, with numbers. */
  readonly children: ReactNode;
  /** The verb, as on the button that asked, without "…". */
  readonly action: string;
  /** It destroys something. */
  readonly destructive?: boolean;
  /** The text to type first: the username, or the first 8 characters of the id. */
  readonly typed?: string | undefined;
  /** A less destructive alternative, as a link or a button. */
  readonly milder?: ReactNode;
  readonly error?: ReactNode;
  readonly busy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before an action that cannot be undone at once. */
export function ConfirmDialog(props: ConfirmProps) {
  const {
    title,
    children,
    action,
    destructive = false,
    typed,
    milder,
    error,
    busy = false,
    onConfirm,
    onClose,
  } = props;
  const text = useText();
  const [name, setName] = useState('');
  const isReady = typed === undefined || name.trim() === typed;
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => {
        if (isReady && !busy) onConfirm();
      }}
      foot={
        <>
          <Button data-cancel onClick={onClose}>
            {text.common.cancel}
          </Button>
          <Button type="submit" kind={destructive ? 'danger' : 'main'} disabled={!isReady} busy={busy} changes>
            {action}
          </Button>
        </>
      }
    >
      <div className={styles.consequences}>{children}</div>
      {typed !== undefined && (
        <Field
          label={text.common.typeToConfirm(typed)}
          value={name}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      {milder !== undefined && <p className={styles.milder}>{milder}</p>}
      {error}
    </Dialog>
  );
}
