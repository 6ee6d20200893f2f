import { useNavigate } from '@tanstack/react-router';
import { Panel } from '../../components/panel/panel.js';
import { Plot } from '../../components/plot/plot.js';
import { useFormats, useText } from '../../text/text.js';
import type { Figures, Span } from './statistics.js';

/** Approved and refused logins, and locks, on one time axis. A step opens its events. */
export function SignIns({ figures, span }: { figures: Figures; span: Span }) {
  const { overview } = useText();
  const { number } = useFormats();
  const navigate = useNavigate();
  const { metric, times, step, before } = figures;
  const approved = metric('logins.approved');
  const failed = metric('logins.failed');
  const locks = metric('locks');
  const noteOf = ({ total, values }: typeof approved) =>
    overview.totalAndPeak(number(total, 'figure'), number(Math.max(0, ...values)));
  return (
    <Panel title={overview.signIns} note={overview.dashed[span]}>
      <Plot
        label={overview.signInsLabel(number(approved.total), number(failed.total), number(locks.total))}
        times={times}
        step={step}
        beforeName={overview.before[span]}
        onChoose={(index) => {
          const at = Date.parse(times[index] ?? '');
          const search = { from: new Date(at).toISOString(), to: new Date(at + step).toISOString() };
          void navigate({ to: '/audit', search });
        }}
        series={[
          {
            key: 'approved',
            name: overview.signedIn,
            note: noteOf(approved),
            values: approved.values,
            ...(before !== undefined && { before: before.values }),
            look: 'line',
            tone: 'accent',
            height: 210,
          },
          {
            key: 'failed',
            name: overview.refused,
            note: noteOf(failed),
            values: failed.values,
            look: 'bars',
            tone: 'bad',
            height: 84,
          },
          {
            key: 'locks',
            name: overview.locks,
            note: noteOf(locks),
            values: locks.values,
            look: 'bars',
            tone: 'warn',
            height: 56,
          },
        ]}
      />
    </Panel>
  );
}
