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
  /** The buttons, in place of one that closes the dialog. */
  readonly footer?: ReactNode;
  /** Buttons beside the one that closes the dialog. */
  readonly actions?: ReactNode;
  readonly isWide?: boolean;
  /** `button`: only a button of the content closes it. `any`: Esc and a click outside close it too. */
  readonly closing?: 'any' | 'button';
  /** With a form, Enter submits. */
  readonly onSubmit?: () => void;
}

/** A native modal dialog: it keeps the focus, Esc closes it, and the focus returns to where it was. Mount it to open it. */
export function Dialog(props: DialogProps) {
  const { title, onClose, children, footer, actions, isWide = false, closing = 'any', onSubmit } = props;
  const text = useText();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    const focused = document.activeElement;
    if (element === null || element.open) return;
    element.showModal();
    const selectors = ['[data-first-focus]', 'input:not([type=hidden]), textarea, select', '[data-cancel]'];
    const first = selectors
      .map((selector) => element.querySelector<HTMLElement>(selector))
      .find((found) => found !== null);
    first?.focus();
    return () => {
      element.close();
      if (focused instanceof HTMLElement && focused.isConnected) focused.focus();
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
        {footer ?? (
          <>
            <Button data-cancel onClick={onClose}>
              {text.common.close}
            </Button>
            {actions}
          </>
        )}
      </footer>
    </>
  );
  return (
    <dialog
      ref={dialog}
      className={cx(styles.dialog, isWide && styles.wide)}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (closing === 'any') onClose();
      }}
      onMouseDown={(event) => {
        // A click whose target is the dialog itself is outside of its content.
        if (event.target === event.currentTarget && closing === 'any') onClose();
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

interface FormDialogProps extends Pick<DialogProps, 'title' | 'onClose' | 'children' | 'isWide'> {
  /** The verb of the button that submits. */
  readonly action: string;
  readonly isDestructive?: boolean;
  /** Whether the form can be submitted. */
  readonly isReady?: boolean;
  readonly busy: boolean;
  readonly onSubmit: () => void;
}

/** A dialog with a form that changes data. While it is busy, it is not submitted again. */
export function FormDialog(props: FormDialogProps) {
  const { action, isDestructive = false, isReady = true, busy, onSubmit, ...dialog } = props;
  const { common } = useText();
  return (
    <Dialog
      {...dialog}
      onSubmit={() => {
        if (isReady && !busy) onSubmit();
      }}
      footer={
        <>
          <Button data-cancel onClick={dialog.onClose}>
            {common.cancel}
          </Button>
          <Button type="submit" kind={isDestructive ? 'danger' : 'main'} disabled={!isReady} busy={busy} changesData>
            {action}
          </Button>
        </>
      }
    />
  );
}

interface ConfirmProps {
  /** The question, with the name: "Erase Grace Hopper?" */
  readonly title: string;
  /** The consequences, with numbers. */
  readonly children: ReactNode;
  /** The verb, as on the button that opened the dialog, without "…". */
  readonly action: string;
  /** It destroys something. */
  readonly isDestructive?: boolean;
  /** The text to type first: the username, or the first 8 characters of the id. */
  readonly confirmText?: string | undefined;
  /** A less destructive alternative, as a link or a button. */
  readonly alternative?: ReactNode;
  readonly error?: ReactNode;
  readonly busy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks the operator to confirm an action, and shows its consequences. It can also contain the fields of the action. */
export function ConfirmDialog(props: ConfirmProps) {
  const {
    title,
    children,
    action,
    isDestructive = false,
    confirmText,
    alternative,
    error,
    busy = false,
    onConfirm,
    onClose,
  } = props;
  const text = useText();
  const [typedText, setTypedText] = useState('');
  const isReady = confirmText === undefined || typedText.trim() === confirmText;
  return (
    <FormDialog {...{ title, action, isDestructive, isReady, busy, onClose }} onSubmit={onConfirm}>
      <div className={styles.consequences}>{children}</div>
      {confirmText !== undefined && (
        <Field
          label={text.common.typeToConfirm(confirmText)}
          value={typedText}
          verbatim
          onChange={(event) => setTypedText(event.currentTarget.value)}
        />
      )}
      {alternative !== undefined && <p className={styles.milder}>{alternative}</p>}
      {error}
    </FormDialog>
  );
}
