import { markUnreachable } from './connection.js';
import { NetworkError } from './problem.js';

/**
 * The lines of a response in NDJSON, as they arrive.
 *
 * @param signal the signal that the request was sent with. It says whether the caller ended the request or the connection was lost
 * @throws NetworkError if the response ends in the middle: what was read until then is valid
 */
export async function* readLines<Line>(response: Response, signal?: AbortSignal): AsyncGenerator<Line> {
  for await (const line of textLines(response, signal)) if (line !== '') yield JSON.parse(line) as Line;
}

/** The lines of a body, without their ends. @param signal see `readLines` */
export async function* textLines(response: Response, signal?: AbortSignal): AsyncGenerator<string> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield line.replace(/\r$/, '');
    }
  } catch (error) {
    if (signal?.aborted) throw error;
    markUnreachable();
    throw new NetworkError('The answer ended in the middle.', { cause: error });
  } finally {
    // A consumer that stops early closes the connection.
    await reader.cancel().catch(() => undefined);
  }
  if (rest !== '') yield rest;
}
