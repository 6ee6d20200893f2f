import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { User } from '../api/schema.js';
import { changeUser, exportOf, isLocked, keyOfUser, unlockUser, userQuery } from '../api/users.js';
import type { IconName } from '../components/icon/icon.js';
import { nameOf } from '../components/text/values.js';
import { toast } from '../components/toast/toasts.js';
import { download } from '../lib/download.js';
import { useText } from '../text/text.js';
import { useCan, useMayChange } from './operator.js';
import type { Entry } from './palette-users.js';

/** The user whose page is open. */
export function useOpenUser(): User | undefined {
  const { id = '' } = useParams({ strict: false });
  const { data } = useQuery({ ...userQuery(id), enabled: false });
  return data;
}

/** What can be done with a user. What asks on the page of the user opens that page with its question. */
export function useUserActions(): (user: User) => Entry[] {
  const { user: text, acts, notifications, shell } = useText();
  const navigate = useNavigate();
  const client = useQueryClient();
  const can = useCan();
  const mayChange = useMayChange();
  return (user) => {
    const { id } = user;
    const entry = (key: string, name: string, icon: IconName, run: () => void): Entry => ({
      ...{ id: `${key}-${id}`, group: nameOf(user), name, icon, run },
    });
    const page = { to: '/users/$id', params: { id } } as const;
    const ask = (act: string, name: string, icon: IconName) =>
      entry(act, name, icon, () => void navigate({ ...page, search: { act } }));
    const part = (hash: string, name: string, icon: IconName) =>
      entry(`part-${hash}`, `${shell.palette.goTo} ${name}`, icon, () => void navigate({ ...page, search: {}, hash }));
    /** For an act that needs no question on the page either. */
    const now = (key: string, name: string, icon: IconName, done: string, work: () => Promise<unknown>) =>
      entry(key, name, icon, () => {
        const ended = work().then(
          () => toast.done(done),
          (error: unknown) => toast.failed(text.failed(name), error),
        );
        void ended.then(() => client.invalidateQueries({ queryKey: keyOfUser(id) }));
      });
    const isActive = user.status === 'active';
    return [
      entry('open', shell.palette.openUser, 'user', () => void navigate({ ...page, search: {} })),
      ...(mayChange(user)
        ? [
            ...(isLocked(user) ? [now('unlock', text.unlock, 'unlock', text.unlocked, () => unlockUser(id))] : []),
            ask('lock', text.lock, 'lock'),
            ask('logOut', text.logOutEverywhere, 'logout'),
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
        const file = exportOf(id).then((content) => download(`user-${id}.json`, content, 'application/json'));
        void file.catch((error: unknown) => toast.failed(text.failed(text.export), error));
      }),
      ...(mayChange(user)
        ? [
            ask('profile', acts.edit, 'pencil'),
            ask('addresses', acts.editAddresses, 'mail'),
            ask('password', acts.of(acts.set, text.factors.password), 'key'),
            ask('pin', acts.of(acts.set, text.factors.pin), 'keyboard'),
            isActive
              ? ask('deactivate', text.deactivate, 'ban')
              : now('reactivate', text.reactivate, 'check', text.reactivated, () =>
                  changeUser(id, { status: 'active' }),
                ),
            ask('erase', text.erase, 'trash'),
          ]
        : []),
      part('login', text.login.title, 'circleCheck'),
      part('inbox', text.inbox.title, 'bell'),
      part('activity', text.activity.title, 'list'),
      part('messages', text.messages.title, 'message'),
      part('devices', text.devices.title, 'phone'),
      part('sessions', text.tokens.title, 'key'),
      part('who', text.who.title, 'user'),
      part('factors', text.factors.title, 'shield'),
    ];
  };
}
