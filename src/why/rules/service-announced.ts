import { metadataOf, recordsAt, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { lastEvent } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import { servedCondition } from './service-pool.ts';

export const serviceAnnounced: Rule = {
  kinds: ['services'],
  symptom: 'The address of a Service of type LoadBalancer does not answer in the local network.',
  cause: 'No node may announce the address of the pool, or another machine has it.',
  advice: 'Make a node Ready (with externalTrafficPolicy Local: one with a ready pod), or free the address.',
  find(service, seen) {
    const condition = servedCondition(service);
    if (condition && textAt(condition, 'reason') === 'NoNode' && hasPoolAddress(service)) {
      return {
        severity: 'broken',
        says: textAt(condition, 'message'),
        mend: [{ command: command`get nodes`, about: 'a node that is Ready and not excluded announces it' }],
      };
    }
    const events = seen.eventsOf(service);
    const last = events.findLast(({ reason }) => reason === 'AddressInUse' || reason === 'AddressAnnounced');
    if (!last || textAt(last, 'reason') !== 'AddressInUse') return undefined;
    const { name, namespace } = metadataOf(service);
    return {
      severity: 'broken',
      says: 'no node announces its address: another machine in the local network has it',
      evidence: [lastEvent(events, 'AddressInUse') ?? ''],
      mend: [
        { advice: 'remove the address from the other machine, or leave it out of the pool' },
        { command: command`describe service ${name} -n ${namespace}`, about: 'its events name the machine' },
      ],
    };
  },
};

const hasPoolAddress = (service: Parameters<Rule['find']>[0]): boolean =>
  recordsAt(service, 'status', 'loadBalancer', 'ingress').some((one) => textAt(one, 'ipMode') === 'VIP');
