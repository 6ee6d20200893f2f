import { type ReactNode, useId, useRef } from 'react';
import { connection } from '../../api/connection.js';
import { cx } from '../../lib/cx.js';
import { useStore } from '../../lib/store.js';
import { Button, type ButtonKind } from '../button/button.js';
import { Icon, type IconName } from '../icon/icon.js';
import styles from './menu.module.css';

export interface MenuItem {
  readonly name: string;
  readonly icon?: IconName;
  readonly run: () => void;
  /** A destructive action: red, after a line. */
  readonly destructive?: boolean;
  /** The action changes data, so it is disabled while there is no connection. */
  readonly changesData?: boolean;
  /** Only for a choice of several items: whether this one is chosen. */
  readonly chosen?: boolean;
}

interface MenuProps {
  /** The name of the button, also if it shows only an icon. */
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly icon?: IconName;
  readonly kind?: ButtonKind;
  readonly small?: boolean;
  readonly children?: ReactNode;
}

/** A button that opens a list of actions. The browser closes it on Esc and on a click outside. */
export function Menu({ label, items, icon = 'dots', kind = 'plain', small = false, children }: MenuProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const { reachable } = useStore(connection);

  function placeMenu(): void {
    const box = button.current?.getBoundingClientRect();
    const menu = list.current;
    if (box === undefined || menu === null) return;
    const { offsetWidth: width, offsetHeight: height } = menu;
    const spaceBelow = box.bottom + 4 + height < window.innerHeight;
    menu.style.left = `${Math.max(8, Math.min(box.right - width, window.innerWidth - width - 8))}px`;
    menu.style.top = `${spaceBelow ? box.bottom + 4 : Math.max(8, box.top - 4 - height)}px`;
  }

  function moveFocus(step: number): void {
    const entries = [...(list.current?.querySelectorAll<HTMLElement>('button:not(:disabled)') ?? [])];
    const focusedIndex = entries.findIndex((entry) => entry.matches(':focus'));
    entries[(focusedIndex + step + entries.length) % entries.length]?.focus();
  }

  return (
    <>
      <Button
        ref={button}
        {...{ kind, small, icon }}
        {...(children === undefined ? { label } : { children, title: label })}
        popoverTarget={id}
        aria-haspopup="menu"
      />
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        className={styles.menu}
        onToggle={(event) => {
          if (event.newState !== 'open') return;
          placeMenu();
          moveFocus(1);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') moveFocus(1);
          else if (event.key === 'ArrowUp') moveFocus(-1);
          else return;
          event.preventDefault();
        }}
      >
        {items.map((item) => (
          <button
            key={item.name}
            type="button"
            {...(item.chosen === undefined
              ? { role: 'menuitem' }
              : { role: 'menuitemradio', 'aria-checked': item.chosen })}
            tabIndex={-1}
            disabled={item.changesData === true && !reachable}
            className={cx(styles.item, item.destructive && styles.destructive)}
            onClick={() => {
              list.current?.hidePopover();
              item.run();
            }}
          >
            {item.icon !== undefined && <Icon name={item.icon} />}
            {item.chosen !== undefined && <Icon name="check" className={item.chosen ? undefined : styles.unchosen} />}
            <span>{item.name}</span>
          </button>
        ))}
      </div>
    </>
  );
}
