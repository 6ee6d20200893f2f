import { Link } from '@tanstack/react-router';
import { Button } from '../../components/button/button.js';
import { Icon } from '../../components/icon/icon.js';
import { Page } from '../../components/panel/panel.js';
import { useStore } from '../../lib/store.js';
import { useText } from '../../text/text.js';
import { Columns, FirstLines } from './columns.js';
import { ChooseFile, ReadingOptions } from './file.js';
import styles from './import.module.css';
import { forgetImport, importing, isRunning } from './state.js';
import { DryRun, Work } from './steps.js';

/** The import of users from a file: the format of the file, its columns, a dry run, and the import of the valid lines. */
export function ImportUsers() {
  const { imports, users } = useText();
  const state = useStore(importing);
  const { source } = state;
  return (
    <Page
      title={imports.title}
      breadcrumbs={
        <>
          <Link to="/users">{users.title}</Link>
          <Icon name="chevronRight" size={12} />
        </>
      }
      actions={
        source !== undefined &&
        !isRunning(state) && (
          <Button icon="upload" onClick={forgetImport}>
            {imports.another}
          </Button>
        )
      }
    >
      <div className={styles.steps}>
        {source === undefined ? (
          <ChooseFile />
        ) : (
          <>
            <ReadingOptions source={source} />
            {source.csv === undefined ? (
              <FirstLines lines={source.sample} />
            ) : (
              <Columns source={source} csv={source.csv} />
            )}
            <DryRun source={source} />
            <Work />
          </>
        )}
      </div>
    </Page>
  );
}
