import { useFormats, useText } from '../../text/text.js';
import { Num } from '../text/values.js';
import type { Series } from './plot.js';
import styles from './plot.module.css';

interface PlotTableProps {
  readonly label: string;
  readonly times: readonly string[];
  readonly series: readonly Series[];
  readonly beforeName?: string;
}

/** The values of a plot as a table, newest first. */
export function PlotTable({ label, times, series, beforeName }: PlotTableProps) {
  const { common } = useText();
  const { moment } = useFormats();
  const columns = series.flatMap((plotted) => [
    {
      key: plotted.key,
      head: plotted.unit === undefined ? plotted.name : `${plotted.name} (${plotted.unit})`,
      values: plotted.values,
    },
    ...(plotted.before === undefined || beforeName === undefined
      ? []
      : [{ key: `${plotted.key}-before`, head: `${plotted.name}, ${beforeName}`, values: plotted.before }]),
  ]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table}>
        <caption className="hidden-text">{label}</caption>
        <thead>
          <tr>
            <th scope="col">{common.time}</th>
            {columns.map(({ key, head }) => (
              <th key={key} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times
            .map((time, index) => (
              <tr key={time}>
                <th scope="row">{moment(time)}</th>
                {columns.map(({ key, values }) => (
                  <td key={key}>
                    <Num value={values[index] ?? null} />
                  </td>
                ))}
              </tr>
            ))
            .reverse()}
        </tbody>
      </table>
    </section>
  );
}
