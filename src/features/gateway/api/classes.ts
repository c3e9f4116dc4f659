/** GatewayClasses of this cluster's own controller, and the Gateways that belong to them. Pure. */
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { Gateway, GatewayClass } from './kinds.ts';

/** Value of spec.controllerName of the classes that nodes serve. */
export const controllerName = 'minik8s.io/gateway';
/** Name of the class that every cluster has. */
export const ownClassName = 'minik8s';

export const isOwnClass = ({ spec }: GatewayClass): boolean => spec.controllerName === controllerName;

/** Returns the Gateways that the nodes serve, the oldest first. */
export function ownGateways(
  gateways: readonly Gateway[],
  classes: readonly GatewayClass[],
): readonly Gateway[] {
  const own = new Set(
    classes.filter((one) => isOwnClass(one) && !one.spec.parametersRef).map(({ metadata }) => metadata.name),
  );
  return gateways
    .filter(
      ({ metadata, spec }) => own.has(spec.gatewayClassName) && metadata.deletionTimestamp === undefined,
    )
    .toSorted(byAge);
}

/** Compares by creation time, then by namespace and name, as the Gateway API decides conflicts. */
export const byAge = ({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number =>
  compare(a.creationTimestamp, b.creationTimestamp) ||
  compare(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`);

export const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
