/** Every plugin, in the order of their filters; a new one is one file and one line here. */
import type { Plugin } from '../framework.ts';
import { nodeAffinity } from './node-affinity.ts';
import { nodeName } from './node-name.ts';
import { nodePorts } from './node-ports.ts';
import { nodeUnschedulable } from './node-unschedulable.ts';
import { resourcesFit } from './resources-fit.ts';
import { supportedPlacement } from './supported-placement.ts';
import { taintToleration } from './taint-toleration.ts';

export const plugins: readonly Plugin[] = [
  supportedPlacement,
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  resourcesFit,
];
