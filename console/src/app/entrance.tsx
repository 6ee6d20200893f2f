import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Icon, Mark } from '../components/icon/icon.js';
import { OfflineStrip } from '../components/state/state.js';
import { language, languages } from '../lib/preferences.js';
import { useText } from '../text/text.js';
import styles from './entrance.module.css';
import { entryQuery } from './operator.js';

/** The frame of the pages before a sign-in, with the name of the installation, a note about security, and the other languages. */
export function Entrance({ children, note }: { children: ReactNode; note?: string }) {
  const text = useText();
  const { data } = useQuery(entryQuery);
  const current = language.get();
  const otherLanguages = languages.filter((other) => other !== current);
  return (
    <div className={styles.entrance}>
      <OfflineStrip />
      <header className={styles.head}>
        <Mark />
        <strong>{data?.app_name ?? 'Postern'}</strong>
        <span className={styles.host}>{window.location.host}</span>
      </header>
      <main className={styles.main}>{children}</main>
      <footer className={styles.foot}>
        {note !== undefined && (
          <>
            <Icon name="lock" size={14} />
            <span>{note}</span>
          </>
        )}
        {otherLanguages.map((other) => (
          <button
            key={other}
            type="button"
            className={styles.language}
            lang={other}
            onClick={() => language.set(other)}
          >
            {text.shell.languages[other]}
          </button>
        ))}
      </footer>
    </div>
  );
}
