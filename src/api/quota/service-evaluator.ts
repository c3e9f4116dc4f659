/**
 * Quota of Services, and of the node ports and load balancers that they request (upstream: serviceEvaluator).
 * Pure.
 */

import type { KubeObject } from '../../apimachinery/meta.ts';
import { zeroQuantity } from '../../apimachinery/quantity.ts';
import { getsNodePorts, hasNodePorts } from '../core/v1/service/defaults.ts';
import type { Service } from '../core/v1/types.gen.ts';
import type { Evaluator } from './evaluator.ts';
import { one, plainEvaluator, wholeNumber } from './plain-evaluator.ts';

const names: ReadonlySet<string> = new Set([
  'count/services',
  'services',
  'services.nodeports',
  'services.loadbalancers',
]);

export const serviceEvaluator: Evaluator = {
  ...plainEvaluator,
  counts: (name) => names.has(name),
  handles: (_, subresource) => subresource === '',
  usage: (object) => {
    const { spec } = object as KubeObject & Service;
    return new Map([
      ['count/services', one],
      ['services', one],
      ['services.nodeports', wholeNumber(nodePortsOf(spec))],
      ['services.loadbalancers', spec.type === 'LoadBalancer' ? one : zeroQuantity],
    ]);
  },
};

/** Returns the number of requested node ports: they are allocated only after they are counted. */
function nodePortsOf(spec: Service['spec']): number {
  const { ports = [] } = spec;
  if (!hasNodePorts(spec)) return 0;
  return getsNodePorts(spec) ? ports.length : ports.filter(({ nodePort }) => nodePort).length;
}
