/** Policies of one kind with their bindings, as they stand in the watch cache. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { type ResourceRef, storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { KubeContext } from '../context.ts';

export interface BoundPolicy<P extends KubeObject, B extends KubeObject> {
  readonly policy: P;
  /** Sorted by name; at least one. */
  readonly bindings: readonly B[];
}

/** A binding of any kind. */
interface Binding extends KubeObject {
  readonly spec: { readonly policyName: string };
}

/**
 * Returns a function for the policies that have bindings, sorted by name. The cache is listed once at each
 * call, and bindings only if there are policies; the result is the same object until one of them changes.
 */
export function boundPolicies<P extends KubeObject, B extends Binding>(
  server: Pick<KubeContext, 'cache'>,
  policyKind: ResourceRef<P>,
  bindingKind: ResourceRef<B>,
): () => readonly BoundPolicy<P, B>[] {
  const [policyPrefix, bindingPrefix] = [storagePrefix(policyKind), storagePrefix(bindingKind)];
  let known: { readonly of: string; readonly policies: readonly BoundPolicy<P, B>[] } | undefined;
  return () => {
    const policies = server.cache.list(policyPrefix);
    if (policies.length === 0) return [];
    const bindings = server.cache.list(bindingPrefix);
    const of = [policies, bindings].map((list) => list.map(({ revision }) => revision).join()).join(';');
    if (known?.of !== of)
      known = {
        of,
        policies: joined(
          policies.map(({ object }) => object as P),
          bindings.map(({ object }) => object as B),
        ),
      };
    return known.policies;
  };
}

function joined<P extends KubeObject, B extends Binding>(
  policies: readonly P[],
  bindings: readonly B[],
): readonly BoundPolicy<P, B>[] {
  const byPolicy = Map.groupBy(sorted(bindings), ({ spec }) => spec.policyName);
  return sorted(policies).flatMap((policy) => {
    const own = byPolicy.get(policy.metadata.name);
    return own ? [{ policy, bindings: own }] : [];
  });
}

const sorted = <T extends KubeObject>(objects: readonly T[]): readonly T[] =>
  objects.toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
