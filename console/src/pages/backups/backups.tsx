import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { request } from '../../api/client.js';
import type {
  GetBackupsData,
  GetBackupsResponse,
  StartBackupData,
  StartBackupResponse,
  VerifyBackupData,
  VerifyBackupResponse,
} from '../../api/schema.js';
import { Badge } from '../../components/badge/badge.js';
import { Button } from '../../components/button/button.js';
import { Facts, Page, Panel, Rows } from '../../components/panel/panel.js';
import { Empty, Loaded, Notice } from '../../components/state/state.js';
import { Secret, Time } from '../../components/text/values.js';
import { toast } from '../../components/toast/toasts.js';
import layout from '../../styles/layout.module.css';
import { useFormats, useText } from '../../text/text.js';
import styles from './backups.module.css';

type State = GetBackupsResponse;
type Backup = State['backups'][number];

/** The backups with their states, and the commands that restore one. */
export function Backups() {
  const { backups: text } = useText();
  const client = useQueryClient();
  const query = useQuery({
    queryKey: ['backups'],
    queryFn: ({ signal }) => request<GetBackupsData, GetBackupsResponse>('GET', '/admin/v1/backups', { signal }),
    refetchInterval: ({ state }) => (state.data?.is_running === true ? 2000 : 15_000),
  });
  const refresh = () => client.invalidateQueries({ queryKey: ['backups'] });
  const start = useMutation({
    mutationFn: () => request<StartBackupData, StartBackupResponse>('POST', '/admin/v1/backups', {}),
    onSuccess: () => {
      toast.done(text.started);
      return refresh();
    },
    onError: (error) => toast.failed(text.notStarted, error),
  });
  const verify = useMutation({
    mutationFn: (id: string) =>
      request<VerifyBackupData, VerifyBackupResponse>('POST', '/admin/v1/backups/{id}/verify', { path: { id } }),
    onSuccess: () => {
      toast.done(text.verificationStarted);
      return refresh();
    },
    onError: (error) => toast.failed(text.notVerified, error),
  });
  const state = query.data;
  const isBusy = start.isPending || verify.isPending || state?.is_running === true;
  return (
    <Page
      title={text.title}
      actions={
        state?.place != null && (
          <Button kind="main" icon="plus" changesData busy={isBusy} onClick={() => start.mutate()}>
            {state.is_running ? text.running : text.start}
          </Button>
        )
      }
    >
      <Loaded query={query} what={text.failed} rows={8}>
        {(data) => (
          <>
            <Alert state={data} />
            {data.place !== null && <Plan state={data} />}
            <Panel hasNoPadding title={text.list} note={text.listNote}>
              {data.backups.length === 0 ? (
                <Empty title={text.none}>{data.place === null ? text.noneOff : text.noneYet}</Empty>
              ) : (
                <Rows label={text.list}>
                  {data.backups.map((backup) => (
                    <Row
                      key={backup.id}
                      backup={backup}
                      canVerify={data.place !== null && backup.location.startsWith(data.place)}
                      isBusy={isBusy}
                      onVerify={() => verify.mutate(backup.id)}
                    />
                  ))}
                </Rows>
              )}
            </Panel>
            <Restore state={data} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The last backup that passed its checks. */
const lastVerified = ({ backups }: State) => backups.find(({ verified_at }) => verified_at !== null);

/** The most important warning about backups, if there is one. */
function Alert({ state }: { state: State }) {
  const { backups: text } = useText();
  if (state.place === null) return <Notice kind="warn">{text.off}</Notice>;
  if (state.problem !== null) return <Notice kind="bad">{state.problem}</Notice>;
  const [newest] = state.backups;
  const lastGood = lastVerified(state);
  if (lastGood === undefined && !state.is_running) return <Notice kind="bad">{text.noGood}</Notice>;
  if (newest?.error != null) return <Notice kind="bad">{text.lastFailed(newest.error)}</Notice>;
  if (state.archive?.error != null) return <Notice kind="bad">{text.archiveFailed(state.archive.error)}</Notice>;
  return null;
}

function Plan({ state }: { state: State }) {
  const { backups: text } = useText();
  const { number } = useFormats();
  return (
    <Panel title={text.plan}>
      <Facts
        facts={[
          [
            text.lastVerified,
            <Time key="last" value={lastVerified(state)?.started_at ?? null} emptyText={text.never} isFull />,
          ],
          [text.next, state.is_running ? text.running : <Time key="next" value={state.next_at} isFull />],
          [
            text.place,
            <bdi key="place" className={styles.location}>
              {state.place}
            </bdi>,
          ],
          [text.method, text.methods[state.method]],
          [text.when, state.schedule.includes(' ') ? text.cron(state.schedule) : text.every(state.schedule)],
          [text.kept, text.keptOf(number(state.keep))],
          [text.encryption, state.is_encrypted ? text.encrypted : text.plain],
          [text.secretKey, text.withoutKey],
          // pg_dump cannot archive the log.
          ...(state.method === 'files' ? [[text.archive, logEnd(state.archive, text.noArchive)] as const] : []),
        ]}
      />
    </Panel>
  );
}

const logEnd = (archive: State['archive'], none: string) =>
  archive === null ? none : <Time key="archive" value={archive.archived_at} />;

interface RowProps {
  readonly backup: Backup;
  readonly canVerify: boolean;
  readonly isBusy: boolean;
  readonly onVerify: () => void;
}

function Row({ backup, canVerify, isBusy, onVerify }: RowProps) {
  const { backups: text } = useText();
  const { number, moment } = useFormats();
  const size = backup.bytes === null ? undefined : `${number(Math.round(backup.bytes / 104_857.6) / 10)} MiB`;
  return (
    <li className={styles.row}>
      <div className={styles.main}>
        <div className={layout.row}>
          <strong>
            <Time value={backup.started_at} isFull />
          </strong>
          <StateBadge backup={backup} />
          <span className={layout.faint}>
            {[size, backup.is_scheduled ? text.scheduled : text.byHand]
              .filter((part) => part !== undefined)
              .join(' · ')}
          </span>
        </div>
        <bdi className={styles.location}>{backup.location}</bdi>
        {backup.error !== null && <bdi className={styles.error}>{backup.error}</bdi>}
      </div>
      {canVerify && backup.finished_at !== null && (
        <Button small changesData disabled={isBusy} label={text.verifyOf(moment(backup.started_at))} onClick={onVerify}>
          {text.verify}
        </Button>
      )}
    </li>
  );
}

function StateBadge({ backup: { error, verified_at, finished_at } }: { backup: Backup }) {
  const { backups: text } = useText();
  if (error !== null) return <Badge kind="bad">{text.states.failed}</Badge>;
  if (verified_at !== null) return <Badge kind="good">{text.states.verified}</Badge>;
  if (finished_at !== null) return <Badge kind="waiting">{text.states.written}</Badge>;
  return <Badge kind="muted">{text.states.unfinished}</Badge>;
}

function Restore({ state }: { state: State }) {
  const { backups: text } = useText();
  const location = lastVerified(state)?.location;
  if (location === undefined) return null;
  return (
    <Panel title={text.restore}>
      <div className={layout.stack12}>
        <p className={layout.faint}>{text.restoreWhy[state.method]}</p>
        <Secret label={text.restoreLast} value={`postern backup restore ${location} --to data-restored`} />
        {state.archive !== null && (
          <Secret
            label={text.restoreAt}
            value={`postern backup restore ${state.archive.location} --at ${state.archive.archived_at} --to data-restored`}
          />
        )}
      </div>
    </Panel>
  );
}
