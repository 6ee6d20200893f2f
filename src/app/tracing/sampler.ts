import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { samplerNames } from '../../config/parsers.js';

/** The names that OpenTelemetry defines for OTEL_TRACES_SAMPLER. */
export type SamplerName = (typeof samplerNames)[number];

/**
 * Creates the sampler that decides which traces are recorded. The names with `parentbased_` follow the decision of the
 * client. Work with a link is always recorded, because only recorded requests create links.
 */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  const plain = plainSampler(name, ratio);
  // A span in a trace of this process follows its parent, or a trace would have gaps.
  const withParents = new ParentBasedSampler(
    name.startsWith('parentbased_')
      ? { root: plain }
      : { root: plain, remoteParentSampled: plain, remoteParentNotSampled: plain },
  );
  return {
    shouldSample(context, traceId, spanName, kind, attributes, links) {
      if (links.length > 0) return { decision: SamplingDecision.RECORD_AND_SAMPLED };
      return withParents.shouldSample(context, traceId, spanName, kind, attributes, links);
    },
    toString: () => `${withParents.toString()}, and all with a link`,
  };
}

function plainSampler(name: SamplerName, ratio: number): Sampler {
  if (name.endsWith('always_on')) return new AlwaysOnSampler();
  return name.endsWith('always_off') ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}
