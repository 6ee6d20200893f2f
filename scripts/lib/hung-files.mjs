import { readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Children of this process that run test files, as ids. Empty where there is no /proc. */
function workers() {
  try {
    const children = readdirSync('/proc/self/task').flatMap((thread) =>
      readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
    return children.filter((id) => readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('vitest'));
  } catch {
    return [];
  }
}

/** The name of the global setup, which runs before the first file. */
const setup = 'The global setup';

/**
 * A Vitest reporter that ends test files which do not end. Vitest limits the time of each test, but not of a file: a worker that
 * blocks its thread holds the run forever, and so does a file in which hundreds of tests reach their limits.
 * `HUNG_FILE_SECONDS` is the longest time of a file (600 by default). After half of it the reporter names the file and its test. After
 * all of it the reporter kills the workers, so the files that run then fail and the run ends.
 * The same limit holds for the global setup.
 */
export default class HungFiles {
  #limit = 1000 * Number(process.env.HUNG_FILE_SECONDS ?? 600);
  #files = new Map();
  #timer;

  onTestRunStart() {
    this.#begin({ moduleId: setup });
    this.#timer = setInterval(() => this.#look(), this.#limit / 20).unref();
  }

  onTestRunEnd() {
    clearInterval(this.#timer);
  }

  onTestModuleQueued(module) {
    this.#files.delete(setup);
    this.#begin(module);
  }

  onTestModuleEnd({ moduleId }) {
    this.#files.delete(moduleId);
  }

  onTestCaseReady({ module, fullName }) {
    this.#files.get(module.moduleId)?.tests.add(fullName);
  }

  onTestCaseResult({ module, fullName }) {
    this.#files.get(module.moduleId)?.tests.delete(fullName);
  }

  #begin({ moduleId }) {
    this.#files.set(moduleId, { since: performance.now(), tests: new Set(), isNamed: false });
  }

  #look() {
    for (const [id, file] of this.#files) {
      const milliseconds = performance.now() - file.since;
      if (milliseconds < this.#limit / 2) continue;
      const isOver = milliseconds >= this.#limit;
      if (!isOver && file.isNamed) continue;
      file.isNamed = true;
      const seconds = Math.round(milliseconds / 1000);
      const name = id === setup ? id : relative(process.cwd(), id);
      const tests = [...file.tests].join('; ') || 'no test, it loads the file or runs a hook';
      process.stderr.write(`\n${name} has run for ${seconds} s. Running: ${tests}\n`);
      if (!isOver) continue;
      // There is no worker yet that could be killed.
      if (id === setup) process.exit(1);
      process.stderr.write('That is too long. All workers are killed.\n');
      this.#files.clear();
      for (const worker of workers()) process.kill(worker, 'SIGKILL');
      return;
    }
  }
}
