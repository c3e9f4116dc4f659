import { metadataOf, recordsAt } from '../../apimachinery/fields.ts';
import { backendsOf, editIngress } from '../ingress-facts.ts';
import type { Rule } from '../rule.ts';

export const ingressService: Rule = {
  kinds: ['ingresses.networking.k8s.io'],
  symptom: 'An Ingress answers 503 for a path.',
  cause: 'The Service of the path does not exist, or has no such port.',
  advice: 'Create the Service, or correct its name or port in the Ingress.',
  find(ingress, seen) {
    if (!seen.isRead('services')) return undefined;
    const { namespace } = metadataOf(ingress);
    const mend = [editIngress(ingress)];
    for (const { service, port } of backendsOf(ingress)) {
      const object = seen.get({ key: 'services', namespace, name: service });
      if (!object) return { severity: 'broken', says: `its Service ${service} does not exist`, mend };
      const ports = recordsAt(object, 'spec', 'ports');
      if (ports.some((one) => one.port === port || one.name === port)) continue;
      const texts = ports.map((one) => [one.port, one.name].filter(Boolean).join(' '));
      return {
        severity: 'broken',
        says: `its Service ${service} has no port ${port}`,
        evidence: [`ports of ${service}: ${texts.join(', ')}`],
        mend,
      };
    }
    return undefined;
  },
};
