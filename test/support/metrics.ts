/** The metrics of one scrape. */
export interface Scrape {
  readonly text: string;
  /** The sum of the series that have this name and at least these labels; 0 if there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
  /** The names of all metrics. */
  readonly names: ReadonlySet<string>;
  /** All values of the label. */
  valuesOf(label: string): Set<string>;
}

interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads `/metrics` once. */
export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text}`);
  const series = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(readSeries);
  return {
    text,
    names: new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name ?? '')),
    value(name, labels = {}) {
      const wanted = series.filter(
        (one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
      );
      return wanted.reduce((sum, { value }) => sum + value, 0);
    },
    valuesOf: (label) => new Set(series.flatMap(({ labels }) => labels[label] ?? [])),
  };
}

function readSeries(line: string): Series {
  const [, name = '', labels = '', value = ''] = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === '') throw new Error(`not a series: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', text = '']) => [label, text]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}
