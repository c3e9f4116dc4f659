import { recordsAt, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import type { Mend, Rule } from '../rule.ts';

const showPool: Mend = {
  command: command`edit configmap load-balancer-pool -n kube-system`,
  about: 'its key addresses has the ranges',
};

/** Remedies by the reason of the condition. */
const mends: Readonly<Record<string, readonly Mend[]>> = {
  PoolExhausted: [
    { advice: 'add a range to the pool, or delete a Service that has one of its addresses' },
    showPool,
  ],
  PoolInvalid: [{ advice: 'correct the ranges of the pool' }, showPool],
  NoPool: [{ advice: 'create the ConfigMap kube-system/load-balancer-pool with the key addresses' }],
  AddressNotInPool: [{ advice: 'request an address of the pool, or none' }, showPool],
  AddressReserved: [{ advice: 'request another address, or none' }],
  AddressTaken: [{ advice: 'request another address, or none' }],
};

export const servicePool: Rule = {
  kinds: ['services'],
  symptom: 'A Service of type LoadBalancer has no address although the cluster has a pool of them.',
  cause:
    'The pool is exhausted or invalid, or the requested address is not in it or belongs to another Service.',
  advice: 'Add a range to the ConfigMap kube-system/load-balancer-pool, or request another address.',
  find(service) {
    const condition = servedCondition(service);
    const mend = condition && mends[textAt(condition, 'reason')];
    if (!mend) return undefined;
    const hasAddress = recordsAt(service, 'status', 'loadBalancer', 'ingress').length > 0;
    return { severity: hasAddress ? 'waiting' : 'degraded', says: textAt(condition, 'message'), mend };
  },
};

/** Returns the condition in which the controller states why a load balancer is not served. */
export const servedCondition = (service: Parameters<Rule['find']>[0]) =>
  recordsAt(service, 'status', 'conditions').find(
    (one) => textAt(one, 'type') === 'minik8s.io/LoadBalancerServed' && textAt(one, 'status') === 'False',
  );
