import { textAt } from '../../apimachinery/fields.ts';
import { lastEvent } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

export const claimProvisioning: Rule = {
  kinds: ['persistentvolumeclaims'],
  symptom: 'A PersistentVolumeClaim is Pending although its class exists.',
  cause: 'Its provisioner fails or does not run, or no volume fits.',
  advice: 'Mend what the message of the provisioner names.',
  find(claim, seen) {
    if (textAt(claim, 'status', 'phase') === 'Bound') return undefined;
    const events = seen.eventsOf(claim);
    const said = lastEvent(events, 'ProvisioningFailed') ?? lastEvent(events, 'FailedBinding');
    const className = textAt(claim, 'spec', 'storageClassName');
    const amount = textAt(claim, 'spec', 'resources', 'requests', 'storage');
    return {
      severity: said === undefined ? 'waiting' : 'broken',
      says: said ?? 'it has no volume yet',
      evidence: [`class ${className || '(none)'}, requests ${amount}`],
      mend: said === undefined ? [] : [{ advice: 'mend what the message names' }],
    };
  },
};
