import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from './measure.mjs';

const program = new URL('../../dist/cli/bin.js', import.meta.url).pathname;
const password = 'a battery of horses';

/** The built service on a throw-away embedded database. NODE_ARGS goes to its node, for instance `--cpu-prof`. */
export async function openPostern(env = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'postern-bench-'));
  const adminKey = randomBytes(24).toString('hex');
  const args = (process.env.NODE_ARGS ?? '').split(' ').filter((arg) => arg !== '');
  const service = await startProcess(
    [...args, program, 'serve'],
    {
      PORT: '0',
      DATA_DIR: folder,
      ADMIN_API_KEY: adminKey,
      LOGIN_LIMIT_PER_ADDRESS: '0',
      LOG_LEVEL: 'warn',
      ...own(),
      ...env,
    },
    /^Postern is ready at (\S+)/m,
  );
  const api = async (path, authorization, body) => {
    const headers = { authorization, ...(body && { 'content-type': 'application/json' }) };
    const response = await fetch(service.url + path, {
      method: 'POST',
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  async function user() {
    const username = `bench${randomUUID()}`;
    await api('/admin/v1/users', `Bearer ${adminKey}`, { username, password });
    const identity = { type: 'username', value: username };
    const { token } = await api('/v1/tokens', '', {
      identity,
      authenticator: 'password',
      secret: password,
      device: {},
    });
    return token;
  }
  return {
    ...service,
    /** Session tokens of this many new users, this many each. */
    async sessions(users, each) {
      const tokens = [];
      for (let count = 0; count < users; count += 1) {
        const credentials = `Basic ${Buffer.from(await user()).toString('base64')}`;
        for (let made = 0; made < each; made += 1) tokens.push((await api('/v1/sessions', credentials)).token);
      }
      return tokens;
    },
    async close() {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Settings of Postern's that are to be tried: those of the environment that it knows. */
function own() {
  const { VERIFY_BATCHING } = process.env;
  return VERIFY_BATCHING === undefined ? {} : { VERIFY_BATCHING };
}
