import { metadataOf, recordsAt, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import type { Rule } from '../rule.ts';

export const ingressTls: Rule = {
  kinds: ['ingresses.networking.k8s.io'],
  symptom: 'A browser warns of the certificate of an Ingress.',
  cause: 'The Secret of its TLS does not exist.',
  advice: 'Create the Secret of type kubernetes.io/tls.',
  find(ingress, seen) {
    const { namespace } = metadataOf(ingress);
    const name = recordsAt(ingress, 'spec', 'tls')
      .map((tls) => textAt(tls, 'secretName'))
      .find((secret) => secret !== '' && seen.isAbsent({ key: 'secrets', namespace, name: secret }));
    if (name === undefined) return undefined;
    return {
      severity: 'degraded',
      says: `the Secret ${name} of its TLS does not exist`,
      mend: [
        { command: command`create secret tls ${name}${inNamespace({ namespace })} --cert=FILE --key=FILE` },
      ],
    };
  },
};
