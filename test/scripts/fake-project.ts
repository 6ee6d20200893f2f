import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Stands in for npm: logs its arguments, waits while the file `hold` exists, and installs the fake of the compiler below, with the record of npm. */
const NPM = `
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
console.error('npm runs');
appendFileSync(process.env.FAKE + '/npm.log', JSON.stringify(process.argv.slice(2)) + '\\n');
const starter = process.ppid;
// If the starter ends with its test, nobody removes the file, so this stops waiting.
while (existsSync(process.env.FAKE + '/hold') && process.ppid === starter) await new Promise((resolve) => setTimeout(resolve, 10));
// Absolute: with a relative path Node retries without end if the working directory was removed.
mkdirSync(process.cwd() + '/node_modules/rolldown', { recursive: true });
copyFileSync(process.env.FAKE + '/rolldown.cjs', 'node_modules/rolldown/index.js');
const { packages: { '': project, ...packages } } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
if (process.argv.includes('--omit=dev')) for (const path in packages) if (packages[path].dev) delete packages[path];
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));
process.exitCode = existsSync(process.env.FAKE + '/offline') ? 1 : 0;
`;

/** Stands in for the compiler: writes a service that prints the source and its arguments, also when it then fails. */
const COMPILER = `
const fs = require('node:fs');
exports.build = async ({ input, output: { dir } }) => {
  fs.mkdirSync(dir, { recursive: true });
  // The scripts of the pages.
  if (!('cli/bin' in input)) return { output: [{ fileName: 'script.js' }] };
  fs.appendFileSync(process.env.FAKE + '/compiler.log', 'built\\n');
  const source = fs.readFileSync('src/app/main.ts', 'utf8');
  fs.mkdirSync(dir + '/cli', { recursive: true });
  fs.writeFileSync(dir + '/cli/bin.js', 'console.log(' + JSON.stringify(source) + ', ...process.argv.slice(2))');
  if (source === 'syntax error') throw new Error('a syntax error');
};
`;

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A starter that still runs. */
export interface Starter {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves when standard error contains the text; rejects after a minute, or when the process ends without it. */
  untilPrinted(text: string): Promise<void>;
}

/** A project folder with the real scripts, and fakes of npm and the compiler that count their calls. */
export class FakeProject {
  readonly parent = mkdtempSync(join(tmpdir(), 'postern-scripts-'));
  readonly root = join(this.parent, 'project');
  /** The folder of the fakes, of the log of their calls, and of the files that a test prepares for them. */
  readonly fakes = join(this.parent, 'fakes');

  /** @param original a project to copy, with the calls logged so far */
  constructor(original?: FakeProject) {
    if (original) {
      cpSync(original.parent, this.parent, { recursive: true });
      return;
    }
    cpSync(join(import.meta.dirname, '..', '..', 'scripts'), join(this.root, 'scripts'), { recursive: true });
    this.write('package.json', '{"type":"module","dependencies":{}}');
    this.write('package-lock.json', '{"packages":{"":{},"node_modules/tool":{"version":"1","dev":true}}}');
    this.write('src/app/main.ts', 'first');
    this.write('src/other.ts', '');
    for (const folder of ['pages', 'packages/client', 'packages/elements']) this.write(`${folder}/src/main.ts`, '');
    this.write('../fakes/npm-cli.js', "import('./npm.mjs');");
    this.write('../fakes/npm.mjs', NPM);
    this.write('../fakes/rolldown.cjs', COMPILER);
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), content);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  has(path: string): boolean {
    return existsSync(join(this.root, path));
  }

  remove(path: string): void {
    rmSync(join(this.root, path), { recursive: true });
  }

  /** The arguments of each call of npm so far. */
  get installs(): string[][] {
    return this.log('npm.log').map((line) => JSON.parse(line));
  }

  get builds(): number {
    return this.log('compiler.log').length;
  }

  start(args: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Finished> {
    return this.starter(args, env).finished;
  }

  /** Runs the build of developers, which needs their packages too. */
  build(): Promise<Finished> {
    return this.starter([], {}, 'build.mjs').finished;
  }

  starter(args: string[] = [], env: NodeJS.ProcessEnv = {}, script = 'start.mjs'): Starter {
    const child = spawn(process.execPath, [join(this.root, 'scripts', script), ...args], {
      cwd: this.root,
      env: {
        PATH: process.env.PATH,
        HOME: this.parent,
        FAKE: this.fakes,
        npm_execpath: join(this.fakes, 'npm-cli.js'),
        ...env,
      },
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => {
      output.stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      output.stderr += chunk;
    });
    const finished = once(child, 'close').then(() => ({ code: child.exitCode, ...output }));
    const untilPrinted = async (text: string) => {
      const deadline = performance.now() + 60_000;
      while (!output.stderr.includes(text)) {
        if (performance.now() > deadline || child.exitCode !== null) throw new Error(`not printed: ${text}`);
        await pause(5);
      }
    };
    return { process: child, finished, untilPrinted };
  }

  delete(): void {
    rmSync(this.parent, { recursive: true, maxRetries: 5 });
  }

  private log(name: string): string[] {
    const path = join(this.fakes, name);
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  }
}
