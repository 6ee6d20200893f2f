import type { Config } from '../../config/config.js';
import { mainShard, type Shard } from '../../database/database.js';
import { checkClock, checkIndexes, checkSchema, checkSecrets, checkVersion, type Finding, fail } from './checks.js';

/** Checks the additional servers of SHARDS. Each finding names its server. */
export async function shardFindings(shards: readonly Shard[], config: Config, maxRows?: number): Promise<Finding[]> {
  const others = shards.filter(({ name }) => name !== mainShard);
  const findings = await Promise.all(others.map((shard) => findingsOf(shard, config, maxRows)));
  return findings.flat();
}

async function findingsOf({ name, everyone }: Shard, config: Config, maxRows?: number): Promise<Finding[]> {
  try {
    const findings = [
      await checkVersion(everyone),
      await checkSchema(everyone),
      ...(await checkIndexes(everyone)),
      await checkClock(everyone),
      ...(await checkSecrets(everyone, config, maxRows)),
    ];
    return findings.map((finding) => ({ ...finding, what: `${finding.what} of ${name}` }));
  } catch {
    return [fail(`database of ${name}`, 'it does not answer: its users cannot use the service')];
  }
}
