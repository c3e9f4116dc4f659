/** References from one namespace to objects of another, which a ReferenceGrant of the latter allows. Pure. */
import type { ReferenceGrant } from './kinds.ts';

export interface Reference {
  readonly from: { readonly group: string; readonly kind: string; readonly namespace: string };
  readonly to: {
    readonly group: string;
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
  };
}

/** Returns true within a namespace, and where a grant allows the reference. */
export function isPermitted({ from, to }: Reference, grants: readonly ReferenceGrant[]): boolean {
  if (from.namespace === to.namespace) return true;
  return grants.some(
    ({ metadata, spec }) =>
      metadata.namespace === to.namespace &&
      spec.from.some(
        (one) => one.group === from.group && one.kind === from.kind && one.namespace === from.namespace,
      ) &&
      spec.to.some(
        (one) => one.group === to.group && one.kind === to.kind && (!one.name || one.name === to.name),
      ),
  );
}
