import { createLink } from '@tanstack/react-router';
import { type AnchorHTMLAttributes, type ButtonHTMLAttributes, forwardRef, type ReactNode, useId } from 'react';
import { connection } from '../../api/connection.js';
import { cx } from '../../lib/cx.js';
import { useStore } from '../../lib/store.js';
import { useText } from '../../text/text.js';
import { Icon, type IconName, Spinner } from '../icon/icon.js';
import styles from './button.module.css';

/** `main`: the one main button of a view. `danger`: the last step of a destructive act; `warn` opens its question. */
export type ButtonKind = 'main' | 'plain' | 'ghost' | 'danger' | 'warn';

interface Look {
  readonly kind?: ButtonKind;
  readonly small?: boolean;
  readonly icon?: IconName;
  readonly children?: ReactNode;
}

interface ButtonProps extends Look, Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> {
  /** The action runs: the button keeps its width and ignores clicks. */
  readonly busy?: boolean;
  /** The name of a button that has only an icon. */
  readonly label?: string;
  /** It changes something on the server: it waits while there is no connection. */
  readonly changes?: boolean;
  /** Why it cannot be used now. Shown beside it. */
  readonly reason?: string | undefined;
}

/** A button. Add "…" to its text if a question follows. */
export const Button = forwardRef<HTMLButtonElement, ButtonProps>(function Button(
  { kind = 'plain', small, icon, busy = false, label, changes = false, reason, disabled, children, className, ...rest },
  ref,
) {
  const text = useText();
  const { reachable } = useStore(connection);
  const id = useId();
  const why = changes && !reachable ? text.common.waitsForConnection : reason;
  const isOff = disabled === true || why !== undefined;
  const button = (
    <button
      type="button"
      {...rest}
      ref={ref}
      className={cx(
        styles.button,
        styles[kind],
        small && styles.small,
        children === undefined && styles.bare,
        className,
      )}
      aria-label={label}
      aria-busy={busy || undefined}
      aria-describedby={why === undefined ? rest['aria-describedby'] : id}
      disabled={isOff}
      onClick={busy ? (event) => event.preventDefault() : rest.onClick}
    >
      {busy ? <Spinner /> : icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
  if (why === undefined) return button;
  return (
    <span className={styles.withReason}>
      {button}
      <span id={id} className={styles.reason}>
        {why}
      </span>
    </span>
  );
});

const Anchor = forwardRef<HTMLAnchorElement, Look & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'children'>>(
  function Anchor({ kind = 'plain', small, icon, children, className, ...rest }, ref) {
    return (
      <a {...rest} ref={ref} className={cx(styles.button, styles[kind], small && styles.small, className)}>
        {icon !== undefined && <Icon name={icon} />}
        {children}
      </a>
    );
  },
);

/** A link that looks like a button, to a page of the console. */
export const ButtonLink = createLink(Anchor);
