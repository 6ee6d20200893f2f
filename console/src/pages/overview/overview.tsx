import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { operatorQuery, useHasScope } from '../../app/operator.js';
import { Segments } from '../../components/field/field.js';
import { Page } from '../../components/panel/panel.js';
import { Loaded } from '../../components/state/state.js';
import { useText } from '../../text/text.js';
import { Causes, Channels, Queue } from './causes.js';
import { Figures } from './figures.js';
import { Now, useAwaitsLatest } from './now.js';
import styles from './overview.module.css';
import { SignIns } from './sign-ins.js';
import { type Span, spanOf, useFigures } from './statistics.js';
import { FailingChannels, useFailures, Warnings } from './warnings.js';

/** Warnings, the figures of a time span, and the latest events. */
export function Overview() {
  const { overview } = useText();
  const can = useHasScope();
  const span = spanOf(useSearch({ from: '/' }).span);
  const navigate = useNavigate({ from: '/' });
  const figures = useFigures(span);
  const { isPending: awaitsRole } = useQuery(operatorQuery);
  const { isFetched: knowsFailures } = useFailures();
  const awaitsLatest = useAwaitsLatest(can('admin'));
  // All parts appear together, so that none moves when another one arrives.
  const query = awaitsRole || !knowsFailures || awaitsLatest ? { ...figures, data: undefined, error: null } : figures;
  return (
    <Page
      title={overview.title}
      actions={
        <Segments<Span>
          label={overview.span}
          value={span}
          options={[
            ['1h', '1 h'],
            ['24h', '24 h'],
            ['7d', '7 d'],
            ['30d', '30 d'],
          ]}
          onChoose={(next) => void navigate({ search: { span: next }, replace: true })}
        />
      }
    >
      <Warnings />
      <Loaded query={query} what={overview.figuresFailed} rows={10}>
        {(data) => (
          <>
            <FailingChannels figures={data} />
            <Figures {...data} />
            <div className={can('admin') ? styles.main : undefined}>
              <SignIns figures={data} span={span} />
              {can('admin') && <Now />}
            </div>
            <div className={styles.thirds}>
              <Causes figures={data} span={span} />
              <Channels figures={data} span={span} />
              <Queue figures={data} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}
