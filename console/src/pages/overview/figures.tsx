import { useFormats, useText } from '../../text/text.js';
import styles from './overview.module.css';
import type { Figures as Values } from './statistics.js';

/** The six figures of a time span, each with an explanation. */
export function Figures({ metric, before }: Values) {
  const { overview } = useText();
  const { number, percent } = useFormats();
  const approved = metric('logins.approved').total;
  const failed = metric('logins.failed').total;
  // In tenths of a percent, so that a tiny change is "0%", not "-0%".
  const change =
    before === undefined || before.total === 0
      ? undefined
      : Math.round((approved / before.total - 1) * 1000) / 1000 || 0;
  const streams = metric('streams.open').values;
  const locks = metric('locks');
  const byOperator = locks.labels.find(({ label }) => label === 'operator')?.total ?? 0;
  const devices = metric('devices.new').total;
  const figures = [
    [
      overview.signedIn,
      number(approved, 'figure'),
      change === undefined || before === undefined
        ? overview.noComparison
        : overview.change(`${change > 0 ? '+' : ''}${percent(change)}`, number(before.total, 'figure')),
    ],
    [
      overview.refused,
      percent(approved + failed === 0 ? 0 : failed / (approved + failed)),
      overview.refusals(number(failed)),
    ],
    [overview.locks, number(locks.total, 'figure'), overview.byOperators(number(byOperator))],
    [
      overview.newDevices,
      number(devices, 'figure'),
      overview.ofSignIns(percent(approved === 0 ? 0 : Math.min(1, devices / approved))),
    ],
    [overview.sessionChecks, number(metric('sessions.verified').total, 'figure'), overview.valid],
    [
      overview.liveStreams,
      number(Math.round(streams.at(-2) ?? 0), 'figure'),
      overview.peak(number(Math.round(Math.max(0, ...streams)))),
    ],
  ] as const;
  return (
    <dl className={styles.figures} aria-label={overview.figures}>
      {figures.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className={styles.figure}>
            <Figure text={value} />
          </dd>
          <dd className={styles.quiet}>{more}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A number with its unit after it, smaller: "214.6 million". */
function Figure({ text }: { text: string }) {
  const [, value, unit] = /^(.*?)(?:\s(\D+))?$/.exec(text) ?? [];
  return (
    <>
      {value}
      {unit !== undefined && <span className={styles.unit}> {unit}</span>}
    </>
  );
}
