import { createLink } from '@tanstack/react-router';
import { type AnchorHTMLAttributes, type ButtonHTMLAttributes, forwardRef, type ReactNode, useId } from 'react';
import { connection } from '../../api/connection.js';
import { cx } from '../../lib/cx.js';
import { useStore } from '../../lib/store.js';
import { useText } from '../../text/text.js';
import { Icon, type IconName, Spinner } from '../icon/icon.js';
import styles from './button.module.css';

/** `main`: the one main button of a view. `danger`: the last step of a destructive action; `warn` opens its question. */
export type ButtonKind = 'main' | 'plain' | 'ghost' | 'danger' | 'warn';

interface ButtonLook {
  readonly kind?: ButtonKind;
  readonly small?: boolean;
  readonly icon?: IconName;
  readonly children?: ReactNode;
}

interface ButtonProps extends ButtonLook, Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> {
  /** The action runs: the button keeps its width and ignores clicks. */
  readonly busy?: boolean;
  /** The name of a button that has only an icon. */
  readonly label?: string;
  /** It changes data on the server, so it is disabled while there is no connection. */
  readonly changesData?: boolean;
  /** Why it cannot be used now. Shown beside it. */
  readonly reason?: string | undefined;
}

/** A button. Add "…" to its text if a question follows. */
export const Button = forwardRef<HTMLButtonElement, ButtonProps>(function Button(
  {
    kind = 'plain',
    small,
    icon,
    busy = false,
    label,
    changesData = false,
    reason,
    disabled,
    children,
    className,
    ...rest
  },
  ref,
) {
  const text = useText();
  const { reachable } = useStore(connection);
  const id = useId();
  const reasonText = changesData && !reachable ? text.common.waitsForConnection : reason;
  const isDisabled = disabled === true || reasonText !== undefined;
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
      aria-describedby={reasonText === undefined ? rest['aria-describedby'] : id}
      disabled={isDisabled}
      onClick={busy ? (event) => event.preventDefault() : rest.onClick}
    >
      {busy ? <Spinner /> : icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
  if (reasonText === undefined) return button;
  return (
    <span className={styles.withReason}>
      {button}
      <span id={id} className={styles.reason}>
        {reasonText}
      </span>
    </span>
  );
});

const Anchor = forwardRef<HTMLAnchorElement, ButtonLook & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'children'>>(
  function Anchor({ kind = 'plain', small, icon, children, className, ...rest }, ref) {
    return (
      <a {...rest} ref={ref} className={cx(styles.button, styles[kind], small && styles.small, className)}>
        {icon !== undefined && <Icon name={icon} />}
        {children}
      </a>
    );
  },
);

/** A link that looks like a button, and opens another site in a new window. */
export function OutsideLink({ href, ...look }: ButtonLook & { readonly href: string }) {
  return <Anchor {...look} href={href} target="_blank" rel="noopener noreferrer" />;
}

/** A link that looks like a button, to a page of the console. */
export const ButtonLink = createLink(Anchor);
