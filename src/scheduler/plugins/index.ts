/** List of all plugins, in the order in which they are called. A new plugin is one file and one line here. */
import type { Plugin } from '../framework.ts';
import type { ScoringStrategy } from '../scoring-strategy.ts';
import { defaultBinder } from './default-binder.ts';
import { defaultPreemption } from './default-preemption.ts';
import { imageLocality } from './image-locality.ts';
import { interPodAffinity } from './inter-pod-affinity.ts';
import { nodeAffinity } from './node-affinity.ts';
import { nodeName } from './node-name.ts';
import { nodePorts } from './node-ports.ts';
import { nodeUnschedulable } from './node-unschedulable.ts';
import { resourcesBalance } from './resources-balance.ts';
import { resourcesFit } from './resources-fit.ts';
import { schedulingPolicy } from './scheduling-policy.ts';
import { taintToleration } from './taint-toleration.ts';
import { topologySpread } from './topology-spread.ts';
import { volumeBinding } from './volume-binding.ts';
import { volumeRestrictions } from './volume-restrictions.ts';

export const plugins = (strategy: ScoringStrategy = { type: 'LeastAllocated' }): readonly Plugin[] => [
  schedulingPolicy,
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  resourcesFit(strategy),
  volumeRestrictions,
  volumeBinding,
  topologySpread,
  interPodAffinity,
  defaultPreemption,
  resourcesBalance,
  imageLocality,
  defaultBinder,
];
