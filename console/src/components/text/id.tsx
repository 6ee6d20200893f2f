import { useEffect, useState } from 'react';
import { cx } from '../../lib/cx.js';
import { useText } from '../../text/text.js';
import { Icon } from '../icon/icon.js';
import styles from './text.module.css';

/** Whether a copy has just succeeded, and the function that copies. */
export function useCopy(): [copied: boolean, copy: (value: string) => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return [copied, (value) => void writeClipboard(value).then(setCopied)];
}

async function writeClipboard(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    return copyBySelection(value);
  }
}

/** Over plain http a browser has no clipboard for scripts, except for a selection. */
function copyBySelection(value: string): boolean {
  const area = document.createElement('textarea');
  area.value = value;
  area.className = 'hidden-text';
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}

interface IdProps {
  readonly of: string;
  /** The first and last characters only. A copy has all. */
  readonly short?: boolean;
  /** What it is, for screen readers. */
  readonly name?: string;
  /** Only the button: the value is shown beside it. */
  readonly bare?: boolean;
}

/** An id. A click copies it. */
export function Id({ of, short = false, name, bare = false }: IdProps) {
  const text = useText();
  const [copied, copy] = useCopy();
  const what = name ?? text.common.id;
  const shown = short && of.length > 15 ? `${of.slice(0, 8)}…${of.slice(-6)}` : of;
  return (
    <button
      type="button"
      className={cx(styles.id, bare && styles.bareId)}
      title={of}
      aria-label={bare ? text.common.copyThe(what) : undefined}
      onClick={(event) => {
        event.stopPropagation();
        copy(of);
      }}
    >
      {!bare && (
        <span>
          <span className="hidden-text">{text.common.copyThe(what)} </span>
          <code>{shown}</code>
        </span>
      )}
      <Icon name={copied ? 'check' : 'copy'} size={bare ? 16 : 11} />
      <span className={styles.copied} role="status">
        {copied ? text.common.copied : ''}
      </span>
    </button>
  );
}
