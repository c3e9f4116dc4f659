/** Plans the status of an Ingress, and the events about what is not served as written. Pure. */
import type { Service } from '../../../api/core/v1/service/service.ts';
import type { Ingress } from '../../../api/networking/v1/ingress.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { CertificateUse } from '../api/certificates.ts';
import type { Claims } from '../api/claims.ts';
import type { Problem } from '../api/problem.ts';
import { targetOf } from '../api/targets.ts';

type Status = NonNullable<Ingress['status']>;

/** Returns the new status; undefined if it is right already. */
export function planStatus(ingress: Ingress, addresses: readonly string[]): Status | undefined {
  const next: Status = {
    loadBalancer: addresses.length === 0 ? {} : { ingress: addresses.map((ip) => ({ ip })) },
  };
  return deepEqual(next, ingress.status ?? { loadBalancer: {} }) ? undefined : next;
}

export interface ProblemFacts {
  readonly claims: Claims;
  readonly uses: readonly CertificateUse[];
  readonly serviceOf: (namespace: string, name: string) => Service | undefined;
  /**
   * Returns the problem of the Secret (NAMESPACE/NAME) as a certificate for the hosts; undefined for none.
   */
  readonly certificateProblem: (secret: string, hosts: readonly string[]) => string | undefined;
}

/** Returns everything about the Ingress that is not served as written, each once. */
export function problemsOf(ingress: Ingress, facts: ProblemFacts): readonly Problem[] {
  const { claims, uses, serviceOf, certificateProblem } = facts;
  const { uid, namespace = '' } = ingress.metadata;
  const own = [...claims.byHost.values()].flat().filter((claim) => claim.ingress.metadata.uid === uid);
  const all = [
    ...(claims.problems.get(uid) ?? []),
    ...own.flatMap(({ backend, annotations }) => {
      const service = serviceOf(namespace, backend.service?.name ?? '');
      const target = targetOf(backend, service, annotations.affinity !== undefined);
      return 'message' in target ? [target] : [];
    }),
    ...uses
      .filter((use) => use.ingress.metadata.uid === uid)
      .flatMap(({ secret, hosts }) => {
        const why = certificateProblem(secret, hosts);
        return why === undefined ? [] : [notUsed(secret, why)];
      }),
  ];
  return [...new Map(all.map((problem) => [problem.message, problem])).values()];
}

const notUsed = (secret: string, why: string): Problem => ({
  reason: 'CertificateNotUsed',
  message: `Secret ${secret} ${why}`,
});
