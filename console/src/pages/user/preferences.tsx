import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { request } from '../../api/client.js';
import type {
  ChangeUserPreferencesData,
  PreferenceCategory,
  QuietHours,
  StepChannel,
  User,
  Preferences as UserPreferences,
} from '../../api/schema.js';
import { Badge } from '../../components/badge/badge.js';
import { Select } from '../../components/field/field.js';
import { Panel } from '../../components/panel/panel.js';
import { Loaded } from '../../components/state/state.js';
import { UserText } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import { zones } from '../publications/zoned-time.js';
import { preferencesQuery, refresh } from './queries.js';
import { QuietHoursFields } from './quiet-hours.js';
import styles from './user.module.css';

const channels = ['push', 'email', 'sms'] as const satisfies readonly StepChannel[];
type Change = ChangeUserPreferencesData['body'];

/** The preferences of the user: choices and defaults. */
export function Preferences({ user, mayChange }: { user: User; mayChange: boolean }) {
  const { user: texts } = useText();
  const text = texts.preferences;
  const client = useQueryClient();
  const query = useQuery(preferencesQuery(user.id));
  const save = useMutation({
    mutationFn: (body: Change) => {
      const path = { id: user.id };
      return request<ChangeUserPreferencesData, UserPreferences>('PATCH', '/admin/v1/users/{id}/preferences', {
        path,
        body,
      });
    },
    async onSuccess(next) {
      client.setQueryData(preferencesQuery(user.id).queryKey, next);
      toast.done(text.saved);
      await refresh(client, user.id);
    },
    onError: (error) => toast.failed(text.notSaved, error),
  });
  const isFixed = !mayChange || save.isPending;
  return (
    <Panel anchor="preferences" title={text.title}>
      <Loaded query={query} rows={4}>
        {(preferences) => (
          <div className={layout.stack16}>
            <Channels {...{ preferences, isFixed }} onChange={save.mutate} />
            {Object.entries(preferences.categories).map(([name, category]) => (
              <Category key={name} {...{ name, category, preferences, isFixed }} onChange={save.mutate} />
            ))}
            <Quiet
              {...{ preferences, isFixed: !mayChange }}
              chosen={save.isPending ? (save.variables.quiet_hours as QuietHours | null | undefined) : undefined}
              onChange={save.mutate}
            />
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

interface PartProps {
  readonly preferences: UserPreferences;
  readonly isFixed: boolean;
  readonly onChange: (body: Change) => void;
}

/** The channels as a whole, and why nothing arrives at an address. */
function Channels({ preferences, isFixed, onChange }: PartProps) {
  const { channels: values, channels_chosen_at: times, addresses } = preferences;
  const whenOf = useWhen();
  const { user, categories } = useText();
  const text = user.preferences;
  const troubleOf = (channel: StepChannel) => {
    const state = channel === 'push' ? 'ok' : (addresses[channel] ?? 'none');
    return state === 'ok' ? undefined : text.addresses[state];
  };
  return (
    <fieldset className={layout.group}>
      <legend>{text.channels}</legend>
      <div className={styles.choices}>
        {channels.map((channel) => (
          <Select
            key={channel}
            label={categories.channels[channel]}
            hint={troubleOf(channel) ?? whenOf(times?.[channel])}
            disabled={isFixed}
            value={values[channel]}
            options={[
              ['on', text.on],
              ['off', text.off],
            ]}
            onChoose={(value) => onChange({ channels: { [channel]: value } })}
          />
        ))}
      </div>
    </fieldset>
  );
}

type CategoryProps = PartProps & { readonly name: string; readonly category: PreferenceCategory };

/** The cells of a category. An empty choice is the default. */
function Category({ name, category, preferences, isFixed, onChange }: CategoryProps) {
  const whenOf = useWhen();
  const { user, categories } = useText();
  const text = user.preferences;
  const { title, is_locked: isLocked, has_digest: hasDigest, cells } = category;
  const hintOf = (cell: keyof typeof cells) => {
    if (cell === 'inbox') return cells.inbox.value === 'off' ? text.inboxOff : undefined;
    return preferences.channels[cell] === 'off' ? text.channelOff : undefined;
  };
  return (
    <fieldset className={layout.group}>
      <legend>
        <UserText text={title} /> {isLocked && <Badge kind="label">{text.locked}</Badge>}
      </legend>
      <div className={styles.choices}>
        {(['inbox', ...channels] as const).map((cell) => {
          const { value, default: initial, is_chosen: isChosen, chosen_at: chosenAt } = cells[cell];
          return (
            <Select<'' | 'on' | 'off' | 'digest'>
              key={cell}
              label={categories.channels[cell]}
              hint={isLocked ? undefined : (hintOf(cell) ?? whenOf(chosenAt))}
              disabled={isFixed || isLocked}
              value={isChosen ? value : ''}
              options={[
                ['', text.byDefault(text[initial])],
                ['on', text.on],
                ['off', text.off],
                ...(cell === 'email' && (hasDigest || value === 'digest') ? ([['digest', text.digest]] as const) : []),
              ]}
              onChoose={(next) => onChange({ categories: { [name]: { [cell]: next === '' ? null : next } } })}
            />
          );
        })}
      </div>
    </fieldset>
  );
}

/** The quiet hours of the user, and the time zone of their clock. */
function Quiet(props: PartProps & { chosen: QuietHours | null | undefined }) {
  const { preferences, isFixed, chosen, onChange } = props;
  const { quiet_hours: hours, time_zone: zone } = preferences;
  const { user, common } = useText();
  const text = user.preferences;
  const names = zone === null ? zones() : [...new Set([zone, ...zones()])];
  return (
    <fieldset className={layout.group}>
      <legend>{text.quiet}</legend>
      <QuietHoursFields
        // A change is shown at once, while it is being saved.
        value={chosen === undefined ? hours : chosen}
        disabled={isFixed}
        onChange={(next) => onChange({ quiet_hours: next === null ? null : { ...next } })}
      />
      <div className={styles.choices}>
        <Select
          label={common.timeZone}
          disabled={isFixed}
          value={zone ?? ''}
          options={[['', text.noZone], ...names.map((name) => [name, name.replaceAll('_', ' ')] as const)]}
          onChoose={(next) => onChange({ time_zone: next === '' ? null : next })}
        />
      </div>
      <p className={layout.quiet}>{text.quietHint}</p>
    </fieldset>
  );
}

/** When something was chosen. Undefined: it was not. */
function useWhen(): (time: string | null | undefined) => string | undefined {
  const { preferences: text } = useText().user;
  const { time: format } = useFormats();
  return (time) => (time === null || time === undefined ? undefined : text.chosenAt(format(time)));
}
