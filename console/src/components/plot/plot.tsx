import { type KeyboardEvent, type PointerEvent, type RefCallback, useCallback, useState } from 'react';
import { cx } from '../../lib/cx.js';
import { useFormats, useText } from '../../text/text.js';
import { Button } from '../button/button.js';
import styles from './plot.module.css';
import { PlotTable } from './plot-table.js';
import { roundEnd, timeMarks } from './scale.js';

/** The data of one small plot. All plots share a time axis, and each has its own scale. */
export interface Series {
  readonly key: string;
  readonly name: string;
  /** After the name: the sum, the peak. */
  readonly note?: string;
  /** A value per step; `null`: nothing is known. */
  readonly values: readonly (number | null)[];
  /** The span before, for comparison: a dashed line. */
  readonly before?: readonly (number | null)[];
  readonly look: 'line' | 'bars';
  readonly tone: 'accent' | 'warn' | 'bad';
  /** Of the drawing, in pixels. */
  readonly height?: number;
  /** A dashed line with a name: higher values are too high. */
  readonly limit?: { readonly value: number; readonly name: string };
  readonly unit?: string;
}

interface PlotProps {
  /** The plot in one sentence with the main figure. Screen readers read it instead of the drawing. */
  readonly label: string;
  /** The start of each step, as times of the service. */
  readonly times: readonly string[];
  /** The length of a step, in milliseconds. */
  readonly step: number;
  readonly series: readonly Series[];
  /** The name of `before`, such as "day before". */
  readonly beforeName?: string;
  /** A click on a step, or Enter. */
  readonly onChoose?: (index: number) => void;
}

const marginLeft = 44;
const marginRight = 8;

/** Small plots on one time axis, with a shared cursor, and a table of the same values. */
export function Plot(props: PlotProps) {
  const { label, times, step, series, beforeName, onChoose } = props;
  const text = useText();
  const formats = useFormats();
  const [width, box] = useWidth();
  const [cursor, setCursor] = useState<number>();
  const [isTable, setTable] = useState(false);
  const innerWidth = Math.max(0, width - marginLeft - marginRight);
  const stepWidth = times.length === 0 ? 0 : innerWidth / times.length;
  // If the last step has not ended, its value still grows, and a line to it would look like a decrease.
  const isLastStepUnfinished = Date.parse(times.at(-1) ?? '') + step > Date.now();
  const indexAt = (event: PointerEvent) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - marginLeft;
    return Math.max(0, Math.min(times.length - 1, Math.floor(x / stepWidth)));
  };
  function onKeyDown(event: KeyboardEvent): void {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const last = times.length - 1;
    if (move !== undefined) setCursor(Math.max(0, Math.min(last, (cursor ?? (move > 0 ? -1 : last + 1)) + move)));
    else if (event.key === 'Enter' && cursor !== undefined) onChoose?.(cursor);
    else if (event.key === 'Escape') setCursor(undefined);
    else return;
    event.preventDefault();
  }
  return (
    <div className={styles.plot}>
      <Button kind="ghost" small onClick={() => setTable(!isTable)} className={styles.toggle}>
        {isTable ? text.common.asPlot : text.common.asTable}
      </Button>
      {isTable ? (
        <PlotTable {...{ label, times, series }} {...(beforeName !== undefined && { beforeName })} />
      ) : (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
        <div
          ref={box}
          role="group"
          aria-label={label}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move its cursor
          tabIndex={0}
          className={cx(styles.area, onChoose !== undefined && styles.clickable)}
          onKeyDown={onKeyDown}
          onBlur={() => setCursor(undefined)}
          onPointerMove={(event) => setCursor(indexAt(event))}
          onPointerLeave={() => setCursor(undefined)}
          onClick={(event) => {
            const x = event.clientX - event.currentTarget.getBoundingClientRect().left - marginLeft;
            if (x >= 0 && stepWidth > 0) onChoose?.(Math.min(times.length - 1, Math.floor(x / stepWidth)));
          }}
        >
          {width > 0 &&
            series.map((plotted) => (
              <div key={plotted.key}>
                <div className={styles.name}>
                  <strong>{plotted.name}</strong> {plotted.note}
                </div>
                <Drawing {...{ width, stepWidth, cursor, isLastStepUnfinished }} series={plotted} />
              </div>
            ))}
          {width > 0 && <Axis {...{ width, times, step }} />}
          {cursor !== undefined && stepWidth > 0 && (
            <div className={styles.tip} role="status" style={tipPlace(marginLeft + (cursor + 0.5) * stepWidth, width)}>
              <div className={styles.when}>{formats.moment(times[cursor] ?? '')}</div>
              {series.map(({ key, name, values, before, unit }) => (
                <dl key={key}>
                  <TipValue name={name} value={values[cursor]} unit={unit} />
                  {before !== undefined && beforeName !== undefined && (
                    <TipValue name={beforeName} value={before[cursor]} unit={unit} />
                  )}
                </dl>
              ))}
            </div>
          )}
        </div>
      )}
    </div>
  );
}

function TipValue({ name, value, unit }: { name: string; value: number | null | undefined; unit: string | undefined }) {
  const { number } = useFormats();
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value === null || value === undefined ? '—' : number(value)} {unit}
      </dd>
    </div>
  );
}

/** Beside the cursor, on the side with more space. */
function tipPlace(x: number, width: number) {
  return x > width / 2 ? { right: width - x + 12 } : { left: x + 12 };
}

interface DrawingProps {
  readonly series: Series;
  readonly width: number;
  readonly stepWidth: number;
  readonly cursor: number | undefined;
  readonly isLastStepUnfinished: boolean;
}

function Drawing({ series, width, stepWidth, cursor, isLastStepUnfinished }: DrawingProps) {
  const { number } = useFormats();
  const { values, before, look, tone, height = look === 'line' ? 150 : 60, limit } = series;
  const knownValues = [...values, ...(before ?? [])].filter((value) => value !== null);
  const end = roundEnd(Math.max(0, ...knownValues, limit?.value ?? 0));
  const top = 8;
  const y = (value: number) => top + (1 - value / end) * (height - top - 6);
  const x = (index: number) => marginLeft + (index + 0.5) * stepWidth;
  const marks = height >= 100 ? [0, end / 2, end] : [0, end];
  const value = cursor === undefined ? null : (values[cursor] ?? null);
  const last = values.length - 1;
  const unfinishedValue = isLastStepUnfinished && look === 'line' ? (values[last] ?? null) : null;
  const drawnValues = unfinishedValue === null ? values : values.slice(0, last);
  return (
    <svg width={width} height={height} aria-hidden="true" className={styles[tone]}>
      {marks.map((mark) => (
        <g key={mark}>
          <line className={styles.grid} x1={marginLeft} x2={width - marginRight} y1={y(mark)} y2={y(mark)} />
          <text className={styles.mark} x={marginLeft - 6} y={y(mark) + 4} textAnchor="end">
            {number(mark, 'axis')}
          </text>
        </g>
      ))}
      {look === 'line' ? (
        splitAtGaps(drawnValues).map((run) => (
          <g key={run[0]?.[0]}>
            <path className={styles.fill} d={`${linePath(run, x, y)}V${y(0)}H${x(run[0]?.[0] ?? 0)}Z`} />
            <path className={styles.line} d={linePath(run, x, y)} />
          </g>
        ))
      ) : (
        <path className={styles.bars} d={barPath(values, stepWidth, x, y)} />
      )}
      {unfinishedValue !== null && (
        <circle className={styles.unfinished} cx={x(last)} cy={y(unfinishedValue)} r="2.5" />
      )}
      {before !== undefined &&
        splitAtGaps(before).map((run) => <path key={run[0]?.[0]} className={styles.before} d={linePath(run, x, y)} />)}
      {limit !== undefined && (
        <g>
          <line
            className={styles.limit}
            x1={marginLeft}
            x2={width - marginRight}
            y1={y(limit.value)}
            y2={y(limit.value)}
          />
          <text className={styles.mark} x={marginLeft + 4} y={y(limit.value) - 4}>
            {limit.name}
          </text>
        </g>
      )}
      {cursor !== undefined && <line className={styles.cursor} x1={x(cursor)} x2={x(cursor)} y1={top} y2={height} />}
      {cursor !== undefined && value !== null && look === 'line' && (
        <circle className={styles.point} cx={x(cursor)} cy={y(value)} r="3" />
      )}
    </svg>
  );
}

type Point = readonly [index: number, value: number];

/** Splits the values at unknown ones, so that no line is drawn across them. */
function splitAtGaps(values: readonly (number | null)[]): Point[][] {
  const runs: Point[][] = [];
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    if (index > 0 && values[index - 1] !== null && runs.length > 0) runs.at(-1)?.push([index, value]);
    else runs.push([[index, value]]);
  }
  return runs;
}

const linePath = (run: readonly Point[], x: (index: number) => number, y: (value: number) => number) =>
  run
    .map(([index, value], place) => `${place === 0 ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`)
    .join('');

/** One path for all bars. A value above 0 is at least a pixel high. */
function barPath(
  values: readonly (number | null)[],
  stepWidth: number,
  x: (index: number) => number,
  y: (value: number) => number,
) {
  const width = Math.max(1, stepWidth - Math.min(2, stepWidth * 0.25));
  const bars = values.flatMap((value, index) => {
    if (value === null || value <= 0) return [];
    const height = Math.max(1, y(0) - y(value));
    return [
      `M${(x(index) - width / 2).toFixed(1)} ${(y(0) - height).toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h-${width.toFixed(1)}z`,
    ];
  });
  return bars.join('');
}

function Axis({ width, times, step }: { width: number; times: readonly string[]; step: number }) {
  const { axisTime } = useFormats();
  const from = Date.parse(times[0] ?? '');
  const to = Date.parse(times.at(-1) ?? '') + step;
  if (Number.isNaN(from)) return null;
  const { marks, areDays } = timeMarks(from, to, Math.max(2, Math.floor((width - marginLeft) / 90)));
  const x = (time: number) => marginLeft + ((time - from) / (to - from)) * (width - marginLeft - marginRight);
  return (
    <svg width={width} height="20" aria-hidden="true">
      {marks
        .filter((time) => x(time) < width - 20)
        .map((time) => (
          <text
            key={time}
            className={styles.mark}
            x={x(time)}
            y="14"
            textAnchor={x(time) < marginLeft + 20 ? 'start' : 'middle'}
          >
            {axisTime(new Date(time), areDays)}
          </text>
        ))}
    </svg>
  );
}

/**
 * The width of an element in pixels. It is measured again when it changes, because a drawing is drawn for this width. A
 * drawing that is scaled to the width would also change the size of its text.
 */
function useWidth(): [width: number, ref: RefCallback<HTMLDivElement>] {
  const [width, setWidth] = useState(0);
  const ref = useCallback((element: HTMLDivElement) => {
    const measure = () => setWidth(element.clientWidth);
    // Measure now, because the observer is called only after the first paint, in which the plot would have no height.
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [width, ref];
}
