/** BackendTLSPolicies: which of them decides how Gateways connect to a port of a Service. Pure. */
import type { Service } from '../../../api/core/v1/service/service.ts';
import { byAge } from './classes.ts';
import type { BackendTlsPolicy, PolicyTarget } from './kinds.ts';
import type { ListenerProblem } from './listeners.ts';
import type { ObjectReference } from './references.ts';

export class BackendTlsPolicies {
  /** Policies by their targets, the oldest first. */
  readonly #byTarget = new Map<string, BackendTlsPolicy[]>();

  constructor(policies: readonly BackendTlsPolicy[]) {
    for (const policy of policies.toSorted(byAge))
      for (const target of serviceTargets(policy)) {
        const key = targetKey(policy, target);
        const known = this.#byTarget.get(key) ?? [];
        this.#byTarget.set(key, known);
        if (!known.includes(policy)) known.push(policy);
      }
  }

  /**
   * Returns the policy for connections to this port: the oldest one that names the port, else the oldest one
   * that names the whole Service. The policy may be one that cannot be served.
   */
  policyOf({ metadata, spec }: Service, port: number | undefined): BackendTlsPolicy | undefined {
    const service = `${metadata.namespace}/${metadata.name}`;
    const name = spec.ports?.find((one) => one.port === port && isTcp(one.protocol))?.name;
    const ofPort = name ? this.#byTarget.get(`${service} ${name}`) : undefined;
    return (ofPort ?? this.#byTarget.get(`${service} `))?.[0];
  }

  /** Returns the older policy that has this target of the policy; undefined if there is none. */
  olderOf(policy: BackendTlsPolicy, target: PolicyTarget): BackendTlsPolicy | undefined {
    const oldest = this.#byTarget.get(targetKey(policy, target))?.[0];
    return oldest === policy ? undefined : oldest;
  }
}

const isTcp = (protocol: string | undefined) => (protocol ?? 'TCP') === 'TCP';

const targetKey = ({ metadata }: BackendTlsPolicy, { name, sectionName = '' }: PolicyTarget) =>
  `${metadata.namespace}/${name} ${sectionName}`;

/** Returns the targets that are Services; other targets have no effect. */
export const serviceTargets = ({ spec }: BackendTlsPolicy): readonly PolicyTarget[] =>
  (spec.targetRefs ?? []).filter(({ group = '', kind }) => group === '' && kind === 'Service');

/** Authorities that a policy trusts. */
export interface Authorities {
  /** Usable ConfigMaps, as NAMESPACE/NAME; 'system': the authorities of the node itself. */
  readonly from: readonly string[] | 'system';
  /** Problem of the first reference that is not usable, with its reason as in the condition ResolvedRefs. */
  readonly unresolved?: ListenerProblem;
}

/**
 * Returns the authorities of the policy. `problemOf` returns why the ConfigMap, as NAMESPACE/NAME, has no
 * usable certificates; undefined if it has.
 */
export function authoritiesOf(
  { metadata, spec }: BackendTlsPolicy,
  problemOf: (configMap: string) => string | undefined,
): Authorities {
  const { caCertificateRefs = [] } = spec.validation;
  if (caCertificateRefs.length === 0) return { from: 'system' };
  const all = caCertificateRefs.map((ref, index) => {
    const place = `spec.validation.caCertificateRefs[${index}]`;
    const key = configMapOf(metadata.namespace, ref);
    if (key === undefined)
      return { problem: { reason: 'InvalidKind', message: `${place}: ${ref.kind} is not a ConfigMap` } };
    const why = problemOf(key);
    const message = `${place}: ConfigMap ${ref.name} ${why}`;
    return why === undefined ? { key } : { problem: { reason: 'InvalidCACertificateRef', message } };
  });
  const unresolved = all.find(({ problem }) => problem)?.problem;
  return { from: all.flatMap(({ key }) => key ?? []), ...(unresolved && { unresolved }) };
}

const configMapOf = (namespace: string | undefined, { group = '', kind, name }: ObjectReference) =>
  group === '' && kind === 'ConfigMap' ? `${namespace}/${name}` : undefined;

/** Returns the ConfigMaps, as NAMESPACE/NAME, that the policies name. */
export const namedConfigMaps = (policies: readonly BackendTlsPolicy[]): ReadonlySet<string> =>
  new Set(
    policies.flatMap(({ metadata, spec: { validation } }) =>
      (validation.caCertificateRefs ?? []).flatMap((ref) => configMapOf(metadata.namespace, ref) ?? []),
    ),
  );
