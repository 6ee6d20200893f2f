import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { connection, isWell } from '../api/connection.js';
import { Dot } from '../components/badge/badge.js';
import { Button } from '../components/button/button.js';
import { Icon, Mark } from '../components/icon/icon.js';
import { Menu, type MenuItem } from '../components/menu/menu.js';
import { pageTitle } from '../components/panel/panel.js';
import { OfflineStrip } from '../components/state/state.js';
import { Avatar, nameOf, UserText } from '../components/text/values.js';
import { Toasts, toast } from '../components/toast/toasts.js';
import { language, languages, theme, themes } from '../lib/preferences.js';
import { useStore } from '../lib/store.js';
import { useText } from '../text/text.js';
import { Help } from './help.js';
import { useKeyboard, useShortcuts } from './keyboard.js';
import { type NavigationEntry, navigation } from './navigation.js';
import { entryQuery, operatorQuery, useHasScope } from './operator.js';
import { Palette } from './palette.js';
import styles from './shell.module.css';
import { signOut, signOutElsewhere } from './sign-out.js';

/** The frame of every page: the sidebar, or bars on a phone, and the dialogs that every page can open. */
export function Shell() {
  const text = useText();
  const navigate = useNavigate();
  const entries = useVisiblePages();
  const [openDialog, setOpenDialog] = useState<'palette' | 'help'>();
  const close = () => setOpenDialog(undefined);
  useKeyboard();
  useShortcuts([
    { keys: 'mod+k', name: text.shell.keys.find, group: 'everywhere', run: () => setOpenDialog('palette') },
    { keys: '?', name: text.shell.keys.help, group: 'everywhere', run: () => setOpenDialog('help') },
    ...entries.map((entry) => ({
      keys: `g ${entry.key}`,
      name: entry.name(text),
      group: 'pages' as const,
      run: () => void navigate({ to: entry.to }),
    })),
  ]);
  const openPalette = () => setOpenDialog('palette');
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        {text.shell.skip}
      </a>
      <Sidebar entries={entries} onFind={openPalette} onHelp={() => setOpenDialog('help')} />
      <TopBar onFind={openPalette} onHelp={() => setOpenDialog('help')} />
      <main id="content" className={styles.content} tabIndex={-1}>
        <OfflineStrip />
        <Outlet />
      </main>
      <BottomBar entries={entries} />
      <Toasts />
      {openDialog === 'palette' && <Palette pages={entries} onHelp={() => setOpenDialog('help')} onClose={close} />}
      {openDialog === 'help' && <Help onClose={close} />}
    </div>
  );
}

/** The pages that the role may see. None before the role is known, so that no entry moves when others appear. */
function useVisiblePages(): readonly NavigationEntry[] {
  const can = useHasScope();
  const { data: operator } = useQuery(operatorQuery);
  if (operator === undefined) return [];
  return navigation.filter(({ scope }) => scope === undefined || can(scope));
}

interface BarProps {
  readonly onFind: () => void;
  readonly onHelp: () => void;
}

function Sidebar({ entries, onFind, onHelp }: BarProps & { entries: readonly NavigationEntry[] }) {
  const text = useText();
  const { data: entry } = useQuery(entryQuery);
  return (
    <header className={styles.side}>
      <div className={styles.brand}>
        <Mark />
        <UserText strong text={entry?.app_name ?? 'Postern'} />
      </div>
      <button type="button" className={styles.find} onClick={onFind}>
        <Icon name="search" />
        <span>{text.shell.keys.search}</span>
        <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <nav className={styles.pages} aria-label={text.shell.navigation}>
        <PageList entries={entries.filter(({ isSecondary }) => isSecondary !== true)} />
        <PageList entries={entries.filter(({ isSecondary }) => isSecondary === true)} />
      </nav>
      <div className={styles.foot}>
        <ConnectionState />
        <Operator onHelp={onHelp} />
      </div>
    </header>
  );
}

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

function PageList({ entries }: { entries: readonly NavigationEntry[] }) {
  const text = useText();
  if (entries.length === 0) return null;
  return (
    <ul>
      {entries.map(({ to, icon, name }) => (
        <li key={to}>
          <Link to={to} className={styles.page} activeOptions={{ exact: to === '/', includeSearch: false }}>
            <Icon name={icon} />
            <span>{name(text)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function ConnectionState() {
  const text = useText();
  const state = useStore(connection);
  return (
    <div className={styles.connection}>
      <Dot tone={isWell(state) ? 'good' : state.reachable ? 'bad' : 'warn'} />
      <span>{text.shell[isWell(state) ? 'connected' : state.reachable ? 'noStorage' : 'disconnected']}</span>
    </div>
  );
}

function Operator({ onHelp }: { onHelp: () => void }) {
  const text = useText();
  const { data: operator } = useQuery(operatorQuery);
  const items = useAccountActions(onHelp);
  const name = operator === undefined ? '' : nameOf(operator);
  return (
    <div className={styles.operator}>
      <Avatar name={name} />
      <div className={styles.who}>
        <UserText text={name} />
        {operator !== undefined && <UserText quiet text={text.shell.roles[operator.role]} />}
      </div>
      <Menu label={text.shell.menu} items={items} kind="ghost" small />
    </div>
  );
}

function useAccountActions(onHelp: () => void): MenuItem[] {
  const text = useText();
  const chosenTheme = useStore(theme);
  const chosenLanguage = useStore(language);
  return [
    ...themes.map((choice) => ({
      name: `${text.shell.theme}: ${text.shell.themes[choice]}`,
      chosen: choice === chosenTheme,
      run: () => theme.set(choice),
    })),
    ...languages.map((choice) => ({
      name: text.shell.languages[choice],
      chosen: choice === chosenLanguage,
      run: () => language.set(choice),
    })),
    { name: text.shell.shortcuts, icon: 'keyboard', run: onHelp },
    {
      name: text.shell.signOutElsewhere,
      icon: 'logout',
      run: () =>
        void signOutElsewhere().then(
          (ended) => toast.done(text.shell.signedOutElsewhere(ended)),
          (error) => toast.failed(text.shell.signOutFailed, error),
        ),
    },
    {
      name: text.shell.signOut,
      icon: 'logout',
      run: () => void signOut().catch((error) => toast.failed(text.shell.signOutFailed, error)),
    },
  ];
}

/** On a phone: the title of the page, search, and the account. */
function TopBar({ onFind, onHelp }: BarProps) {
  const text = useText();
  const title = useStore(pageTitle);
  const items = useAccountActions(onHelp);
  return (
    <header className={styles.top}>
      <Mark />
      <span className={styles.title} aria-hidden="true">
        <bdi>{title}</bdi>
      </span>
      <Button kind="ghost" icon="search" label={text.shell.find} onClick={onFind} />
      <Menu label={text.shell.menu} items={items} icon="user" kind="ghost" />
    </header>
  );
}

/** On a phone: the most used pages, and the others behind "More". */
function BottomBar({ entries }: { entries: readonly NavigationEntry[] }) {
  const text = useText();
  const navigate = useNavigate();
  const mainEntries = entries.filter(({ isOnPhoneBar }) => isOnPhoneBar === true).slice(0, 4);
  const otherEntries = entries.filter((entry) => !mainEntries.includes(entry));
  return (
    <nav className={styles.bottom} aria-label={text.shell.navigation}>
      {mainEntries.map(({ to, icon, name, phoneName = name }) => (
        <Link key={to} to={to} className={styles.tab} activeOptions={{ exact: to === '/', includeSearch: false }}>
          <Icon name={icon} size={20} />
          <span>{phoneName(text)}</span>
        </Link>
      ))}
      {otherEntries.length > 0 && (
        <span className={styles.more}>
          <Menu
            label={text.shell.more}
            icon="menu"
            kind="ghost"
            items={otherEntries.map(({ to, icon, name }) => ({
              name: name(text),
              icon,
              run: () => void navigate({ to }),
            }))}
          >
            {text.shell.more}
          </Menu>
        </span>
      )}
    </nav>
  );
}
