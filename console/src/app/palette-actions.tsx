import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { User } from '../api/schema.js';
import { changeUser, isLocked, readUserExport, unlockUser, userKey, userQuery } from '../api/users.js';
import type { IconName } from '../components/icon/icon.js';
import { nameOf } from '../components/text/values.js';
import { toast } from '../components/toast/toasts.js';
import { download } from '../lib/download.js';
import { useText } from '../text/text.js';
import { useHasScope, useMayChange } from './operator.js';
import type { PaletteEntry } from './palette-users.js';

/** The user whose page is open. */
export function useOpenUser(): User | undefined {
  const { id = '' } = useParams({ strict: false });
  const { data } = useQuery({ ...userQuery(id), enabled: false });
  return data;
}

/** The actions on a user. An action with a dialog opens the page of the user with that dialog. */
export function useUserActions(): (user: User) => PaletteEntry[] {
  const { user: text, userDialogs, notifications, shell } = useText();
  const navigate = useNavigate();
  const client = useQueryClient();
  const can = useHasScope();
  const mayChange = useMayChange();
  return (user) => {
    const { id } = user;
    const entry = (key: string, name: string, icon: IconName, run: () => void): PaletteEntry => ({
      id: `${key}-${id}`,
      group: nameOf(user),
      name,
      icon,
      run,
    });
    const page = { to: '/users/$id', params: { id } } as const;
    const openDialog = (dialog: string, name: string, icon: IconName) =>
      entry(dialog, name, icon, () => void navigate({ ...page, search: { act: dialog } }));
    const openPanel = (hash: string, name: string, icon: IconName) =>
      entry(`part-${hash}`, `${shell.palette.goTo} ${name}`, icon, () => void navigate({ ...page, search: {}, hash }));
    /** An action without a dialog. */
    const runAction = (key: string, name: string, icon: IconName, done: string, work: () => Promise<unknown>) =>
      entry(key, name, icon, () => {
        const toastShown = work().then(
          () => toast.done(done),
          (error: unknown) => toast.failed(text.failed(name), error),
        );
        void toastShown.then(() => client.invalidateQueries({ queryKey: userKey(id) }));
      });
    const isActive = user.status === 'active';
    return [
      entry('open', shell.palette.openUser, 'user', () => void navigate({ ...page, search: {} })),
      ...(mayChange(user)
        ? [
            ...(isLocked(user)
              ? [runAction('unlock', text.unlock, 'unlock', text.unlocked, () => unlockUser(id))]
              : []),
            openDialog('lock', text.lock, 'lock'),
            openDialog('logOut', text.logOutEverywhere, 'logout'),
          ]
        : []),
      ...(can('notifications:write')
        ? [
            entry('notify', notifications.send, 'send', () => {
              void navigate({ to: '/notifications', search: { to: id } });
            }),
          ]
        : []),
      entry('export', text.export, 'download', () => {
        const file = readUserExport(id).then((content) => download(`user-${id}.json`, content, 'application/json'));
        void file.catch((error: unknown) => toast.failed(text.failed(text.export), error));
      }),
      ...(mayChange(user)
        ? [
            openDialog('profile', userDialogs.edit, 'pencil'),
            openDialog('addresses', userDialogs.editAddresses, 'mail'),
            openDialog('password', userDialogs.of(userDialogs.set, text.factors.password), 'key'),
            isActive
              ? openDialog('deactivate', text.deactivate, 'ban')
              : runAction('reactivate', text.reactivate, 'check', text.reactivated, () =>
                  changeUser(id, { status: 'active' }),
                ),
            openDialog('erase', text.erase, 'trash'),
          ]
        : []),
      openPanel('login', text.login.title, 'circleCheck'),
      openPanel('inbox', text.inbox.title, 'bell'),
      openPanel('activity', text.activity.title, 'list'),
      openPanel('messages', text.messages.title, 'message'),
      openPanel('devices', text.devices.title, 'phone'),
      openPanel('sessions', text.tokens.title, 'key'),
      openPanel('who', text.who.title, 'user'),
      openPanel('factors', text.factors.title, 'shield'),
    ];
  };
}
