import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import type { Rule } from '../rule.ts';

export const ingressClass: Rule = {
  kinds: ['ingresses.networking.k8s.io'],
  symptom: 'No request reaches an Ingress; it has no ADDRESS.',
  cause: 'Its IngressClass does not exist.',
  advice: 'Name a class that exists (ctl get ingressclasses).',
  find(ingress, seen) {
    const key = 'ingressclasses.networking.k8s.io';
    const className = textAt(ingress, 'spec', 'ingressClassName');
    if (className === '' || !seen.isAbsent({ key, namespace: '', name: className })) return undefined;
    const classes = seen.list(key).map((one) => metadataOf(one).name);
    const { name, namespace } = metadataOf(ingress);
    const patch = JSON.stringify({ spec: { ingressClassName: classes[0] ?? 'CLASS' } });
    return {
      severity: 'broken',
      says: `its IngressClass ${className} does not exist`,
      evidence: [`classes: ${classes.join(', ') || 'none'}`],
      mend: [{ command: command`patch ingress ${name}${inNamespace({ namespace })} -p ${patch}` }],
    };
  },
};
