import { metadataOf } from '../../apimachinery/fields.ts';
import { backendsOf } from '../ingress-facts.ts';
import type { ObjectRef } from '../kinds.ts';
import type { Rule } from '../rule.ts';
import { serviceSelector } from './service-selector.ts';

export const ingressEndpoints: Rule = {
  kinds: ['ingresses.networking.k8s.io'],
  symptom: 'An Ingress answers 502 or 503.',
  cause: 'One of its Services has no ready pods.',
  advice: 'Mend the Service that the explanation names.',
  find(ingress, seen) {
    const { namespace } = metadataOf(ingress);
    const failing = backendsOf(ingress)
      .map(({ service }): ObjectRef => ({ key: 'services', namespace, name: service }))
      .filter((ref) => {
        const service = seen.get(ref);
        return service && serviceSelector.find(service, seen);
      });
    if (failing.length === 0) return undefined;
    const names = [...new Set(failing.map(({ name }) => name))].join(', ');
    return { severity: 'broken', says: `its Service has no ready pods: ${names}`, because: failing };
  },
};
