import { metadataOf, recordsAt, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { lastEvent } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

export const serviceBalancer: Rule = {
  kinds: ['services'],
  symptom: 'The EXTERNAL-IP of a Service is <pending>.',
  cause: 'No node can serve its port, or its loadBalancerClass is that of a controller that does not run.',
  advice: 'Free the port, use another one, or start the controller.',
  find(service, seen) {
    if (textAt(service, 'spec', 'type') !== 'LoadBalancer') return undefined;
    if (recordsAt(service, 'status', 'loadBalancer', 'ingress').length > 0) return undefined;
    const className = textAt(service, 'spec', 'loadBalancerClass');
    const events = seen.eventsOf(service);
    const said = events.findLast((event) => event.type === 'Warning');
    return {
      severity: 'degraded',
      says: className
        ? `it has no external address: the controller of loadBalancerClass ${className} has assigned none`
        : 'it has no external address yet',
      evidence: said ? [lastEvent(events, textAt(said, 'reason')) ?? ''] : [],
      mend: [
        className
          ? {
              advice: `start the controller of ${className}, or create the Service without loadBalancerClass`,
            }
          : {
              command: command`describe service ${metadataOf(service).name} -n ${metadataOf(service).namespace}`,
              about: 'its events name the node and the port',
            },
      ],
    };
  },
};
