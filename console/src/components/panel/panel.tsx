import { type ReactNode, useEffect, useId } from 'react';
import { cx } from '../../lib/cx.js';
import { createStore } from '../../lib/store.js';
import styles from './panel.module.css';

interface PanelProps {
  readonly title?: ReactNode;
  /** Beside the title, in grey: a count. */
  readonly note?: ReactNode;
  /** Buttons at the end of the head. */
  readonly actions?: ReactNode;
  readonly footer?: ReactNode;
  /** Without padding, rows reach the edges. */
  readonly hasNoPadding?: boolean;
  /** The hash of the URL that leads here. */
  readonly anchor?: string;
  readonly children: ReactNode;
}

/** A part of a page, with its title. Panels do not contain panels. */
export function Panel({ title, note, actions, footer, hasNoPadding = false, anchor, children }: PanelProps) {
  const id = useId();
  return (
    <section id={anchor} className={styles.panel} aria-labelledby={title === undefined ? undefined : id}>
      {title !== undefined && (
        <header className={styles.head}>
          <h2 id={id}>{title}</h2>
          {note !== undefined && <span className={styles.note}>{note}</span>}
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </header>
      )}
      <div className={hasNoPadding ? undefined : styles.body}>{children}</div>
      {footer !== undefined && <footer className={styles.foot}>{footer}</footer>}
    </section>
  );
}

/** Rows of a panel, separated by lines. */
export function Rows({ children, label }: { children: ReactNode; label?: string }) {
  return (
    <ul className={styles.rows} aria-label={label}>
      {children}
    </ul>
  );
}

/** The title of the open page, for the top bar of a phone. */
export const pageTitle = createStore('');

interface PageProps {
  readonly title: string;
  /** Links to the pages above, before the title. */
  readonly breadcrumbs?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The head of a page with its only `h1`, and its content. */
export function Page({ title, breadcrumbs, actions, children }: PageProps) {
  useEffect(() => {
    pageTitle.set(title);
    document.title = `${title} · Postern`;
  }, [title]);
  return (
    <>
      <header className={styles.pageHead}>
        {breadcrumbs !== undefined && <nav className={styles.above}>{breadcrumbs}</nav>}
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {actions !== undefined && <div className={cx(styles.actions, styles.pageActions)}>{actions}</div>}
      </header>
      <div className={styles.page}>{children}</div>
    </>
  );
}

/** Name and value pairs. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface MasterDetailProps {
  readonly detail?: ReactNode;
  /** Both have half of the width. */
  readonly hasEqualWidths?: boolean;
  readonly children: ReactNode;
}

/** A list, and beside it the row that is open. On a narrow screen the open row goes first. */
export function MasterDetail({ detail, hasEqualWidths = false, children }: MasterDetailProps) {
  return (
    <div className={cx(styles.split, hasEqualWidths && styles.even, detail !== undefined && styles.open)}>
      <div className={styles.master}>{children}</div>
      {detail !== undefined && <div className={styles.detail}>{detail}</div>}
    </div>
  );
}
