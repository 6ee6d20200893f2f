import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { request } from '../../api/client.js';
import type { DeleteUserDeviceData, User, UserDevice } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { deviceName } from '../../components/delivery/delivery.js';
import { ConfirmDialog } from '../../components/dialog/dialog.js';
import { Icon } from '../../components/icon/icon.js';
import { Panel, Rows } from '../../components/panel/panel.js';
import { Loaded } from '../../components/state/state.js';
import { Time, UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import { devicesQuery, refresh, sessionsQuery, tokensQuery } from './queries.js';
import styles from './user.module.css';

interface SideProps {
  readonly user: User;
  /** Whether the operator may change this user. */
  readonly mayChange: boolean;
}

/** The user's devices, with remote log-out. */
export function Devices({ user, mayChange, onLogOutAll }: SideProps & { onLogOutAll: () => void }) {
  const { devices: text } = useText().user;
  const query = useQuery(devicesQuery(user.id));
  const [dialogDevice, setDialogDevice] = useState<UserDevice>();
  const logOutAllText = useText().user.logOutEverywhere;
  return (
    <Panel
      anchor="devices"
      title={text.title}
      note={query.data?.page.total}
      hasNoPadding
      actions={
        mayChange &&
        query.data?.data.length !== 0 && (
          <Button small onClick={onLogOutAll}>
            {logOutAllText}
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p className={styles.empty}>{text.none}</p>
          ) : (
            <Rows label={text.title}>
              {data.map((device) => (
                <DeviceRow
                  key={device.id}
                  device={device}
                  onLogOut={mayChange ? () => setDialogDevice(device) : undefined}
                />
              ))}
            </Rows>
          )
        }
      </Loaded>
      {dialogDevice !== undefined && (
        <LogOutDevice user={user} device={dialogDevice} onClose={() => setDialogDevice(undefined)} />
      )}
    </Panel>
  );
}

function DeviceRow({ device, onLogOut }: { device: UserDevice; onLogOut: (() => void) | undefined }) {
  const { devices: text } = useText().user;
  const { time } = useFormats();
  const name = deviceName(device) ?? text.unnamed;
  const isDesktop = /win|mac|linux/i.test(device.os_name ?? '');
  const system = [device.os_name, device.os_version].filter(Boolean).join(' ');
  const push = Object.values(device.push).some(Boolean) ? text.push : '';
  const about = [system, push, device.is_bound ? text.bound : ''].filter(Boolean).join(' · ');
  return (
    <li className={styles.row}>
      <Icon name={isDesktop ? 'laptop' : 'phone'} />
      <div className={styles.who}>
        <UserText strong text={name} />
        <div className={layout.quiet}>{about}</div>
        <div className={layout.quiet}>{text.last(time(device.last_login_at))}</div>
      </div>
      {onLogOut !== undefined && (
        <Button kind="ghost" small onClick={onLogOut} label={`${text.logOut} ${name}`}>
          {text.logOut}
        </Button>
      )}
    </li>
  );
}

function LogOutDevice({ user, device, onClose }: { user: User; device: UserDevice; onClose: () => void }) {
  const text = useText().user;
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const name = deviceName(device) ?? text.devices.unnamed;
  async function logOut(): Promise<void> {
    setBusy(true);
    try {
      const path = { id: user.id, device_id: device.id };
      await request<DeleteUserDeviceData, unknown>('DELETE', '/admin/v1/users/{id}/devices/{device_id}', { path });
      toast.done(text.devices.loggedOut(name));
    } catch (error) {
      toast.failed(text.failed(text.devices.logOutAction), error);
    }
    onClose();
    await refresh(client, user.id);
  }
  return (
    <ConfirmDialog
      title={text.devices.logOutTitle(name)}
      action={text.devices.logOutAction}
      busy={busy}
      onConfirm={() => void logOut()}
      onClose={onClose}
    >
      <p>{text.devices.logOutWhat}</p>
    </ConfirmDialog>
  );
}

/** The logins with an active token, and how many sessions they have. */
export function Tokens({ user }: Pick<SideProps, 'user'>) {
  const text = useText().user;
  const { time } = useFormats();
  const query = useQuery(tokensQuery(user.id));
  const { data: sessions } = useQuery(sessionsQuery(user.id));
  const { data: devices } = useQuery(devicesQuery(user.id));
  const names = new Map(devices?.data.map((device) => [device.id, deviceName(device)]));
  return (
    <Panel
      anchor="sessions"
      title={text.tokens.title}
      note={text.tokens.sessions(sessions?.page.total ?? 0)}
      hasNoPadding
    >
      <Loaded query={query}>
        {({ data }) => {
          const active = data.filter((token) => token.active);
          if (active.length === 0) return <p className={styles.empty}>{text.tokens.none}</p>;
          return (
            <Rows label={text.tokens.title}>
              {active.map((token) => (
                <li key={token.id} className={styles.row}>
                  <Icon name="key" />
                  <div className={styles.who}>
                    <UserText strong text={names.get(token.device_id) ?? text.devices.unnamed} />
                    <div className={layout.quiet}>
                      {text.login.ways[token.authenticator] ?? token.authenticator} ·{' '}
                      {text.tokens.expires(time(token.expires_at))}
                    </div>
                  </div>
                  <span className={styles.end}>
                    <Time value={token.created_at} />
                    {text.tokens.sessions(
                      sessions?.data.filter(({ authentication_id }) => authentication_id === token.id).length ?? 0,
                    )}
                  </span>
                </li>
              ))}
            </Rows>
          );
        }}
      </Loaded>
    </Panel>
  );
}
