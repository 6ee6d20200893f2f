import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Problem } from '../../lib/problem.js';
import type { ImageFormat } from './formats.js';
import type { Renditions } from './storage.js';

/**
 * Decodes images in a process with a low priority, so that large images do not delay requests. A file that crashes the
 * decoder ends only that process. It decodes one file at a time: call it again only after the end of
 * the last call.
 */
export interface Decoder {
  /**
   * Makes the renditions of a file.
   * @param timeoutMs when it has passed, the decoder is stopped
   * @throws Problem `invalid_image`, also for a file that takes too much CPU time; `overloaded` if the process did not
   *   start or was stopped from outside; `DecoderTimeout`
   */
  decode(file: Buffer, format: ImageFormat, timeoutMs: number): Promise<Renditions>;
}

/** The time of a call has passed. */
export class DecoderTimeout extends Error {
  override readonly name = 'DecoderTimeout';
}

/** Milliseconds until an idle process ends. A start takes about 150 ms, and the process 60 MB. */
const idleTimeoutMs = 10_000;

/** A JPEG of 2048 x 2048 pixels has at most 12 MB. */
const maxRenditionBytes = 16 * 1024 * 1024;

/** The stream that carries the bytes of files, in both directions. Messages between processes (IPC) would copy the bytes. */
const fileDescriptor = 3;

/**
 * CommonJS, so that it runs both from TypeScript and compiled. It decodes a file once, into at most 2048 x 2048 pixels,
 * and makes the renditions from these pixels. So no bytes of the file reach the renditions: no metadata, and no data behind
 * the image.
 *
 * - All formats that Postern does not accept are turned off. `failOn: 'error'` also refuses truncated files. Only the first
 *   frame or page is read.
 * - The limit is CPU time, because with a low priority the time on the clock says nothing about a file. Only a file that
 *   was built to be slow takes longer.
 * - On Linux with `sched_autogroup`, a priority counts only within a session, and PostgreSQL is in another one. So the process has a
 *   session of its own, which gets a low priority too.
 * - The child ignores signals: a signal to the service reaches parent and child, but the parent still needs the child for open requests,
 *   and ends it afterwards.
 */
const source = `
  const maxPixels = 25_000_000;
  const [libraryPath, maxCpuMs] = process.argv.slice(1);
  const { readdirSync, readSync, writeFileSync, writeSync } = require('node:fs');
  const { setPriority } = require('node:os');
  // On Linux, each thread has its own priority. New threads take it from the thread that starts them.
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task') : [process.pid];
  for (const id of threads) setPriority(Number(id), 10);
  // Other systems have no such file.
  try { writeFileSync('/proc/self/autogroup', '10'); } catch {}
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
  const sharp = require(libraryPath);
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map((name) => 'VipsForeignLoad' + name) });
  const cpuMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
  async function render(file, format) {
    const reading = { failOn: 'error', limitInputPixels: maxPixels, autoOrient: true };
    // Reads the header only: nothing is decoded before the size is known.
    const header = await sharp(file, reading).metadata();
    if (header.format !== format || header.width * header.height > maxPixels) throw new Error('not as its first bytes say');
    const { data, info } = await sharp(file, reading)
      .resize({ width: 2048, height: 2048, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: 'white' })
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    const raw = { width: info.width, height: info.height, channels: info.channels };
    const jpeg = (size) => {
      const pixels = sharp(data, { raw });
      return (size === undefined ? pixels : pixels.resize({ ...size, fit: 'cover' })).jpeg({ quality: 82 }).toBuffer();
    };
    return [await jpeg({ width: 640, height: 360 }), await jpeg(), await jpeg({ width: 160, height: 160 })];
  }
  function readFile(size) {
    const file = Buffer.allocUnsafe(size);
    for (let at = 0; at < size; ) at += readSync(${fileDescriptor}, file, { offset: at }) || process.exit();
    return file;
  }
  function writeFile(file) {
    for (let at = 0; at < file.length; ) at += writeSync(${fileDescriptor}, file, { offset: at });
  }
  process.on('message', async ({ size, format }) => {
    const file = readFile(size);
    const start = cpuMs();
    const watch = setInterval(() => {
      // To exit would first wait for the threads, which decode.
      if (cpuMs() - start > maxCpuMs) process.kill(process.pid, 'SIGALRM');
    }, 50);
    const { renditions, error } = await render(file, format).then(
      (renditions) => ({ renditions }),
      (error) => ({ error: error.message }),
    );
    clearInterval(watch);
    process.send({ sizes: renditions?.map(({ length }) => length), error });
    renditions?.forEach(writeFile);
  });
  process.on('disconnect', () => process.exit());`;
const libraryPath = createRequire(import.meta.url).resolve('sharp');

interface Answer {
  /** The lengths of card, full and thumbnail, whose bytes follow. Absent if the file is refused. */
  readonly sizes?: readonly number[];
  readonly error?: string;
}

/** Undefined if the process did not start. */
const filesOf = (decoder: ChildProcess) => decoder.stdio?.[fileDescriptor] as Socket | undefined;

/** Waits until this number of bytes has arrived, and returns them. If the stream ends before, it waits for ever: the end of the process ends the call. */
function readBytes(stream: Readable, size: number): Promise<Buffer> {
  return new Promise((resolve) => {
    const read = () => {
      const bytes: Buffer | null = stream.read(size);
      // The rest of a stream that has ended is shorter.
      if (bytes === null || bytes.length < size) return;
      stream.off('readable', read);
      resolve(bytes);
    };
    stream.on('readable', read);
  });
}

/** @throws Problem `invalid_image` */
async function readRenditions(decoder: ChildProcess, { sizes = [], error }: Answer): Promise<Renditions> {
  const files = filesOf(decoder);
  // A file may have taken over the process that decodes it.
  const isPlausible = sizes.every((size) => Number.isInteger(size) && size > 0 && size < maxRenditionBytes);
  const [card, full, thumbnail] = sizes;
  if (!files || !isPlausible || !card || !full || !thumbnail)
    throw new Problem('invalid_image', { cause: new Error(error) });
  const bytes = await readBytes(files, card + full + thumbnail);
  return {
    card: bytes.subarray(0, card),
    full: bytes.subarray(card, card + full),
    thumbnail: bytes.subarray(card + full),
  };
}

/**
 * The process starts with the first image. An idle one does not keep this process alive.
 * @param options.maxCpuMs the milliseconds of CPU time that a file may take
 */
export function createDecoder({ maxCpuMs = 6000 } = {}): Decoder {
  let child: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;

  function start(): ChildProcess {
    // The process gets no environment: NODE_OPTIONS could preload code, and other variables contain secrets.
    const started = spawn(process.execPath, ['-e', source, libraryPath, String(maxCpuMs)], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'ipc'],
      detached: true,
    });
    // A process that has ended is never used again. The calls have their own listeners.
    const forget = () => {
      if (child === started) child = undefined;
      filesOf(started)?.destroy();
    };
    started.once('exit', forget).on('error', forget);
    // Ignored here: if the process ends, the listener of the call reports it.
    filesOf(started)?.on('error', () => undefined);
    return started;
  }

  function renditionsOf(
    decoder: ChildProcess,
    file: Buffer,
    format: ImageFormat,
    timeoutMs: number,
  ): Promise<Renditions> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        decoder.off('message', onMessage).off('exit', onExit).off('error', onError);
        settle();
      };
      const onMessage = (answer: Answer) =>
        readRenditions(decoder, answer).then(
          (renditions) => end(() => resolve(renditions)),
          (error) => end(() => reject(error)),
        );
      const onError = (cause: Error) => end(() => reject(new Problem('overloaded', { retryAfter: 1, cause })));
      const onExit = (code: number | null, signal: string | null) => {
        const cause = new Error(`the decoder of images ended with ${signal ?? code}`);
        // SIGKILL comes from the system, for example because memory was low. Any other end is a crash that the file caused.
        if (signal === 'SIGKILL') onError(cause);
        else end(() => reject(new Problem('invalid_image', { cause })));
      };
      const timer = setTimeout(() => {
        child = undefined;
        decoder.kill('SIGKILL');
        end(() => reject(new DecoderTimeout()));
      }, timeoutMs);
      decoder.on('message', onMessage).on('exit', onExit).on('error', onError);
      const files = filesOf(decoder);
      // The error of the process follows.
      if (files === undefined) return;
      // Without a callback, an error would be emitted by the process, also after this call has ended.
      decoder.send({ size: file.length, format }, (error) => error && onError(error));
      files.write(file);
    });
  }

  return {
    async decode(file, format, timeoutMs) {
      clearTimeout(idle);
      child ??= start();
      const decoder = child;
      for (const part of [decoder, decoder.channel, filesOf(decoder)]) part?.ref();
      try {
        return await renditionsOf(decoder, file, format, timeoutMs);
      } finally {
        for (const part of [decoder, decoder.channel, filesOf(decoder)]) part?.unref();
        idle = setTimeout(() => {
          child = undefined;
          decoder.kill('SIGKILL');
        }, idleTimeoutMs).unref();
      }
    },
  };
}
