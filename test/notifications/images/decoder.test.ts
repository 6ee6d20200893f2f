import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import sharp from 'sharp';
import { afterAll, expect, test } from 'vitest';
import { createDecoder } from '../../../src/notifications/images/decoder.js';

/** The processes that were started. */
const processes: ChildProcess[] = [];
/** Called with the next process before it starts. */
let beforeStart: ((process: ChildProcess) => void) | undefined;
const onProcess = (message: unknown) => {
  const { process } = message as { process: ChildProcess };
  processes.push(process);
  beforeStart?.(process);
  beforeStart = undefined;
};
subscribe('child_process', onProcess);
afterAll(() => unsubscribe('child_process', onProcess));

const noise = (size: number) =>
  sharp({
    create: {
      width: size,
      height: size,
      channels: 3,
      background: 'red',
      noise: { type: 'gaussian', mean: 128, sigma: 30 },
    },
  });
const small = await noise(20).jpeg().toBuffer();
/** A large JPEG of equal tiles of noise: it is as hard to decode as noise, which takes much longer to make. */
async function tiles(size: number): Promise<Buffer> {
  const tile = await noise(500).png().toBuffer();
  const rest = size - 500;
  return sharp(tile).extend({ right: rest, bottom: rest, extendWith: 'repeat' }).jpeg({ quality: 90 }).toBuffer();
}
const names = ['card', 'full', 'thumbnail'];

function lastProcess(): ChildProcess {
  const last = processes.at(-1);
  if (last === undefined) throw new Error('no process was started');
  return last;
}

test('a file that takes too much CPU time is refused, and the next file gets a new process', async () => {
  const decoder = createDecoder({ maxCpuMs: 100 });
  const slow = await tiles(4000);
  await expect(decoder.decode(slow, 'jpeg', 60_000)).rejects.toMatchObject({ code: 'invalid_image' });
  expect(Object.keys(await decoder.decode(small, 'jpeg', 60_000))).toEqual(names);
});

test('a process that dies while it sends the renditions refuses its file', async () => {
  const decoder = createDecoder();
  await decoder.decode(small, 'jpeg', 60_000);
  const process_ = lastProcess();
  // The renditions are larger than the buffers of the pipe, so the process waits until they are read.
  const file = await tiles(2000);
  process_.once('message', () => process_.kill('SIGKILL'));
  await expect(decoder.decode(file, 'jpeg', 60_000)).rejects.toMatchObject({ code: 'overloaded' });
});

test.each([[[1, 2]], [[1, 2, -3]], [[1, 2, 1e9]], [['1', 2, 3]], [[]]])(
  'a process that sends the sizes %j refuses its file',
  async (sizes) => {
    const decoder = createDecoder();
    await decoder.decode(small, 'jpeg', 60_000);
    const refused = expect(decoder.decode(small, 'jpeg', 60_000)).rejects.toMatchObject({ code: 'invalid_image' });
    lastProcess().emit('message', { sizes });
    await refused;
  },
);

test('if the process has no file descriptors left, the file is refused with overloaded', async () => {
  beforeStart = (process) => {
    const { _handle: handle } = process as unknown as { _handle: { spawn(): number } };
    handle.spawn = () => -constants.errno.EMFILE;
  };
  const decoder = createDecoder();
  await expect(decoder.decode(small, 'jpeg', 60_000)).rejects.toMatchObject({ code: 'overloaded' });
  expect(Object.keys(await decoder.decode(small, 'jpeg', 60_000))).toEqual(names);
});

test.runIf(process.platform === 'linux')('the process has a session of its own with a low priority', async () => {
  await createDecoder().decode(small, 'jpeg', 60_000);
  const { pid } = lastProcess();
  const [, , , session] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  expect(Number(session)).toBe(pid);
  if (!readdirSync('/proc/self').includes('autogroup')) return;
  expect(readFileSync(`/proc/${pid}/autogroup`, 'latin1')).toMatch(/nice 10$/m);
});
