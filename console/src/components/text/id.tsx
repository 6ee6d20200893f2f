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

/** Without https, scripts can write to the clipboard only by copying a selection. */
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
  readonly value: string;
  /** The first and last characters only. A copy has all. */
  readonly short?: boolean;
  /** What it is, for screen readers. */
  readonly name?: string;
  /** Only the button is shown, because the value is beside it. */
  readonly hidesValue?: boolean;
}

/** An id. A click copies it. */
export function Id({ value, short = false, name, hidesValue = false }: IdProps) {
  const text = useText();
  const [copied, copy] = useCopy();
  const label = name ?? text.common.id;
  const shownText = short && value.length > 15 ? `${value.slice(0, 8)}…${value.slice(-6)}` : value;
  return (
    <button
      type="button"
      className={cx(styles.id, hidesValue && styles.bareId)}
      title={value}
      aria-label={hidesValue ? text.common.copyThe(label) : undefined}
      onClick={(event) => {
        event.stopPropagation();
        copy(value);
      }}
    >
      {!hidesValue && (
        <span>
          <span className="hidden-text">{text.common.copyThe(label)} </span>
          <code>{shownText}</code>
        </span>
      )}
      <Icon name={copied ? 'check' : 'copy'} size={hidesValue ? 16 : 11} />
      <span className={styles.copied} role="status">
        {copied ? text.common.copied : ''}
      </span>
    </button>
  );
}
