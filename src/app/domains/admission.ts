import type { Services } from '../../http/routes/routes.js';
import { createAdmission } from '../../limits/admission/admission.js';
import { startBlockList } from '../../limits/admission/block-list.js';
import { createBlocks } from '../../limits/admission/blocks.js';
import type { Base } from '../base/base.js';

/**
 * The blocks of addresses, and the limits of requests. The list of blocks is read before the first request.
 * @param interval milliseconds between two reads of the blocks
 */
export async function createAdmissionServices(
  { config, database, lifecycle, log }: Base,
  interval: number | undefined,
): Promise<Pick<Services, 'admission' | 'blocks'>> {
  const list = lifecycle.add(
    await startBlockList({
      database,
      ...(interval !== undefined && { interval }),
      onError: (error) => log.warn({ err: error }, 'the blocked addresses could not be read; the known blocks stay'),
    }),
    (running) => running.stop(),
  );
  const admission = createAdmission({
    blocks: list,
    perAddress: config.REQUEST_LIMIT_PER_ADDRESS,
    perSession: config.REQUEST_LIMIT_PER_SESSION,
    limitsApiKeys: config.REQUEST_LIMIT_FOR_API_KEYS,
  });
  return { admission, blocks: createBlocks(database, list) };
}
