import { useQuery } from '@tanstack/react-query';
import type { DryRunPush } from '../../api/schema.js';
import { Badge } from '../../components/badge/badge.js';
import { deviceName, userDevicesOf } from '../../components/delivery/delivery.js';
import { Icon } from '../../components/icon/icon.js';
import { Loaded } from '../../components/state/state.js';
import { UserText } from '../../components/text/values.js';
import layout from '../../styles/layout.module.css';
import { useText } from '../../text/text.js';
import styles from './notifications.module.css';

/** All devices of one person, and the push of each. */
export function PersonDevices({ id, push }: { id: string; push: readonly DryRunPush[] }) {
  const { delivery, notifications } = useText();
  const query = useQuery({
    queryKey: ['user', id, 'devices'],
    queryFn: ({ signal }) => userDevicesOf(id, signal),
  });
  return (
    <Loaded query={query} rows={2}>
      {({ data }) => (
        <ul className={styles.devices}>
          {data.length === 0 && <li className={layout.quiet}>{delivery.noDevice}</li>}
          {data.map((device) => {
            const own = push.find(({ device_id }) => device_id === device.id);
            return (
              <li key={device.id} className={styles.ownDevice}>
                <Icon name="phone" />
                <UserText text={deviceName(device) ?? delivery.unnamed} />
                {own === undefined ? (
                  <span className={layout.quiet}>{notifications.dryRun.noPush}</span>
                ) : (
                  <Badge kind={own.muted ? 'muted' : 'label'}>{delivery.channels[own.channel]}</Badge>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </Loaded>
  );
}
