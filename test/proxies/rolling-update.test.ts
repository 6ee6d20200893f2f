import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../acceptance/client.js';
import { fencesOf } from '../docs/markdown.js';
import { createTestDatabase } from '../support/database.js';
import { type EventStream, openStream } from '../support/event-stream.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { BUILD_TIMEOUT, buildService, type ServiceProcess, startProcess } from '../support/process.js';
import { sendSingle } from '../support/single-request.js';

beforeAll(buildService, BUILD_TIMEOUT);

const temporaryFolder = async (name: string) => {
  const folder = await mkdtemp(join(tmpdir(), `postern-${name}-`));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** nginx with the configuration of the page, which sends requests to the given instances. */
async function startNginx(instances: () => readonly string[]) {
  const [folder, port] = await Promise.all([temporaryFolder('nginx'), freePort()]);
  const [fence] = fencesOf('docs/proxies.md').filter(({ text }) => text.startsWith('upstream instances'));
  const file = join(folder, 'nginx.conf');
  const write = async () => {
    const servers = instances().map((url) => `server ${new URL(url).host};`);
    const text = (fence?.text ?? '')
      .replace(/( *server 10\.0\.0\.\d:8080;\n)+/, `${servers.join('\n')}\n`)
      .replace('listen 80;', `listen 127.0.0.1:${port};`);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const http = `access_log off;\n${paths.join('\n')}\n${text}`;
    await writeFile(
      file,
      `daemon off;\nworker_shutdown_timeout 3s;\npid ${folder}/pid;\nevents {}\nhttp {\n${http}\n}`,
    );
  };
  await write();
  const env = { PATH: `${process.env.PATH}:/usr/sbin` };
  const child: ChildProcess = spawn('nginx', ['-e', 'stderr', '-c', file], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr?.on('data', (data) => {
    output += data;
  });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually('nginx', async () => {
    if (child.exitCode !== null) throw new Error(output);
    return (await fetch(`${url}/livez`).catch(() => undefined))?.ok ? true : undefined;
  });
  const workers = async () => {
    const text = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
    return text.trim().split(' ');
  };
  return {
    url,
    output: () => output,
    /** Reads the changed instances, and waits until the workers with the former ones have ended. */
    async reload() {
      const former = await workers();
      await write();
      child.kill('SIGHUP');
      await eventually('new workers', async () => {
        const now = await workers();
        return now.every((pid) => !former.includes(pid)) && now[0] !== '' ? true : undefined;
      });
    },
  };
}

test('a rolling update of two instances behind nginx fails no request, and a stream has no gap', async () => {
  const db = await createTestDatabase();
  onTestFinished(() => db.drop());
  const adminKey = `admin-${randomBytes(24).toString('hex')}`;
  const env = {
    ...{ PORT: '0', DATABASE_URL: db.url, SECRET_KEY: randomBytes(32).toString('hex'), ADMIN_API_KEY: adminKey },
    ...{ LOG_LEVEL: 'warn', LOGIN_LIMIT_PER_ADDRESS: '0' },
  };
  async function startInstance(): Promise<ServiceProcess> {
    const service = await startProcess({ env, cwd: await temporaryFolder('instance') });
    onTestFinished(() => service.stop().then(() => undefined));
    return service;
  }
  const instances = [await startInstance(), await startInstance()];
  let inService = instances.map(({ url }) => url);
  const nginx = await startNginx(() => inService);
  const client = createClient({ url: nginx.url, adminKey });
  const user = await client.createUser();
  const { session, authentication } = await client.signIn(user);

  const bearer = { authorization: `Bearer ${session.token}` };
  const basic = { authorization: `Basic ${Buffer.from(authentication.token ?? '').toString('base64')}` };
  const admin = { authorization: `Bearer ${adminKey}` };
  const notification = { user_id: user.id, notification_type: 'payment', description: 'Ada paid you' };
  const load = {
    verify: () => sendSingle(`${nginx.url}/v1/sessions/verify`, 'POST', bearer),
    session: () => sendSingle(`${nginx.url}/v1/sessions`, 'POST', basic),
    list: () => sendSingle(`${nginx.url}/v1/notifications?limit=5`, 'GET', bearer),
    publish: () =>
      sendSingle(
        `${nginx.url}/admin/v1/notifications`,
        'POST',
        { ...admin, 'idempotency-key': randomUUID() },
        notification,
      ),
  };
  const answers = Object.fromEntries(Object.keys(load).map((name) => [name, [] as number[]]));
  let isOver = false;
  const loops = Object.entries(load).flatMap(([name, ask]) =>
    [0, 1].map(async () => {
      while (!isOver) answers[name]?.push(await ask());
    }),
  );
  /** Waits for the end of the load, and then until the stream has the newest notification. */
  const untilReceived = async (stream: EventStream) => {
    await Promise.all(loops);
    const { body } = await client.send<{ id: string }[]>('GET', '/v1/notifications?limit=1', { bearer: session.token });
    await eventually('the newest notification', async () =>
      stream.end !== undefined || stream.text.includes(body?.[0]?.id ?? '-') ? true : undefined,
    );
  };
  const received: string[] = [];
  const following = (async () => {
    let position = '0';
    while (!isOver) {
      const stream: EventStream = await openStream(nginx.url, { bearer: session.token, lastEventId: position });
      await eventually('the end of a stream', async () => (isOver || stream.end !== undefined ? true : undefined));
      if (isOver) await untilReceived(stream);
      received.push(...stream.events.filter(({ event }) => event === 'message').map(({ data }) => data));
      position = stream.lastEventId;
      stream.destroy();
    }
  })();
  const untilMoreAnswers = () => {
    const before = Object.values(answers).map((list) => list.length);
    return eventually('answers of each kind', async () =>
      Object.values(answers).every((list, index) => list.length > (before[index] ?? 0) + 5) ? true : undefined,
    );
  };
  for (const place of [0, 1]) {
    await untilMoreAnswers();
    inService = instances.filter((_, index) => index !== place).map(({ url }) => url);
    await nginx.reload();
    expect(await instances[place]?.stop()).toBe(0);
    instances[place] = await startInstance();
    inService = instances.map(({ url }) => url);
    await nginx.reload();
  }
  await untilMoreAnswers();
  isOver = true;
  await Promise.all([...loops, following]);

  expect(Object.fromEntries(Object.entries(answers).map(([name, list]) => [name, [...new Set(list)]]))).toEqual({
    verify: [200],
    session: [201],
    list: [200],
    publish: [201],
  });
  const sequences = received.map((data) => (JSON.parse(data) as { sequence: number }).sequence);
  expect(sequences).toEqual(Array.from({ length: answers.publish?.length ?? 0 }, (_, index) => index + 1));
});
