import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** @param {number} value */
export function round(value, digits = 0) {
  return Number(value.toFixed(digits));
}

/** CPU that a process has used so far; NaN where there is no /proc. @param {number} pid */
export function cpuMicroseconds(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ');
    // In ticks of 10 ms.
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  } catch {
    return Number.NaN;
  }
}

/**
 * A Node.js process, once it has printed where it listens.
 * @param {readonly string[]} args
 * @param {Record<string, string>} env
 * @param {RegExp} announcement whose first group is the URL
 */
export async function startProcess(args, env, announcement) {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8');
  const url = await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`it ended: ${output}`)));
    child.stdout.on('data', (text) => {
      output += text;
      const found = announcement.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    url,
    pid: child.pid,
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
