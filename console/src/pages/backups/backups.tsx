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
import { useFormats, useText } from '../../text/text.js';
import styles from './backups.module.css';

type State = GetBackupsResponse;
type Backup = State['backups'][number];

/** The backups, whether they can be relied on, and how to restore one. */
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
          <Button kind="main" icon="plus" changes busy={isBusy} onClick={() => start.mutate()}>
            {state.is_running ? text.running : text.start}
          </Button>
        )
      }
    >
      <Loaded query={query} what={text.failed} rows={8}>
        {(data) => (
          <>
            <Alert of={data} />
            {data.place !== null && <Plan of={data} />}
            <Panel flush title={text.list} note={text.listNote}>
              {data.backups.length === 0 ? (
                <Empty title={text.none}>{data.place === null ? text.noneOff : text.noneYet}</Empty>
              ) : (
                <Rows label={text.list}>
                  {data.backups.map((backup) => (
                    <Row
                      key={backup.id}
                      of={backup}
                      canVerify={data.place !== null && backup.location.startsWith(data.place)}
                      isBusy={isBusy}
                      onVerify={() => verify.mutate(backup.id)}
                    />
                  ))}
                </Rows>
              )}
            </Panel>
            <Restore of={data} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The start of the last backup that passed its checks. */
const lastGood = ({ backups }: State) => backups.find(({ verified_at }) => verified_at !== null);

/** What an operator must know first: nothing if all is well. */
function Alert({ of }: { of: State }) {
  const { backups: text } = useText();
  if (of.place === null) return <Notice kind="warn">{text.off}</Notice>;
  const [newest] = of.backups;
  const good = lastGood(of);
  if (good === undefined && !of.is_running) return <Notice kind="bad">{text.noGood}</Notice>;
  if (newest?.error != null) return <Notice kind="bad">{text.lastFailed(newest.error)}</Notice>;
  if (of.archive?.error != null) return <Notice kind="bad">{text.archiveFailed(of.archive.error)}</Notice>;
  return null;
}

function Plan({ of }: { of: State }) {
  const { backups: text } = useText();
  const { number } = useFormats();
  return (
    <Panel title={text.plan}>
      <Facts
        of={[
          [text.lastVerified, <Time key="last" at={lastGood(of)?.started_at ?? null} never={text.never} />],
          [text.next, of.is_running ? text.running : <Time key="next" at={of.next_at} />],
          [
            text.place,
            <bdi key="place" className={styles.location}>
              {of.place}
            </bdi>,
          ],
          [text.kept, text.keptOf(number(of.keep), of.schedule)],
          [text.encryption, of.is_encrypted ? text.encrypted : text.plain],
          [text.archive, of.archive === null ? text.noArchive : <Time key="archive" at={of.archive.archived_at} />],
        ]}
      />
    </Panel>
  );
}

interface RowProps {
  readonly of: Backup;
  readonly canVerify: boolean;
  readonly isBusy: boolean;
  readonly onVerify: () => void;
}

function Row({ of, canVerify, isBusy, onVerify }: RowProps) {
  const { backups: text } = useText();
  const { number, time } = useFormats();
  const size = of.bytes === null ? undefined : `${number(Math.round(of.bytes / 104_857.6) / 10)} MiB`;
  return (
    <li className={styles.row}>
      <div className={styles.main}>
        <div className={styles.head}>
          <strong>
            <Time at={of.started_at} />
          </strong>
          <StateBadge of={of} />
          <span className={styles.quiet}>
            {[size, of.is_scheduled ? text.scheduled : text.byHand].filter((part) => part !== undefined).join(' · ')}
          </span>
        </div>
        <bdi className={styles.location}>{of.location}</bdi>
        {of.error !== null && <bdi className={styles.error}>{of.error}</bdi>}
      </div>
      {canVerify && of.finished_at !== null && (
        <Button small changes disabled={isBusy} label={text.verifyOf(time(of.started_at))} onClick={onVerify}>
          {text.verify}
        </Button>
      )}
    </li>
  );
}

function StateBadge({ of: { error, verified_at, finished_at } }: { of: Backup }) {
  const { backups: text } = useText();
  if (error !== null) return <Badge kind="bad">{text.states.failed}</Badge>;
  if (verified_at !== null) return <Badge kind="good">{text.states.verified}</Badge>;
  if (finished_at !== null) return <Badge kind="waiting">{text.states.written}</Badge>;
  return <Badge kind="muted">{text.states.unfinished}</Badge>;
}

function Restore({ of }: { of: State }) {
  const { backups: text } = useText();
  const location = lastGood(of)?.location;
  if (location === undefined) return null;
  return (
    <Panel title={text.restore}>
      <div className={styles.restore}>
        <p className={styles.quiet}>{text.restoreWhy}</p>
        <Secret label={text.restoreLast} of={`postern backup restore ${location} --to data-restored`} />
        {of.archive !== null && (
          <Secret
            label={text.restoreAt}
            of={`postern backup restore ${of.archive.location} --at ${of.archive.archived_at} --to data-restored`}
          />
        )}
      </div>
    </Panel>
  );
}
