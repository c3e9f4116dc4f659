/** IngressClasses of this cluster's own controller, and the Ingresses that belong to them. Pure. */
import type { Ingress } from '../../../api/networking/v1/ingress.ts';
import type { IngressClass } from '../../../api/networking/v1/ingress-class.ts';

/** Value of spec.controller of the classes that nodes serve. */
export const controllerName = 'minik8s.io/ingress';
/** Name of the class that every cluster has. */
export const ownClassName = 'minik8s';

export const defaultClassAnnotation = 'ingressclass.kubernetes.io/is-default-class';
const classAnnotation = 'kubernetes.io/ingress.class';

/** Returns the name of the object's class: the field, or the older annotation; undefined for none. */
export const classNameOf = ({ metadata, spec }: Ingress): string | undefined =>
  spec.ingressClassName ?? metadata.annotations?.[classAnnotation];

/** Returns the names of the classes of this controller. */
export const ownClasses = (classes: readonly IngressClass[]): ReadonlySet<string> =>
  new Set(
    classes.filter(({ spec }) => spec.controller === controllerName).map(({ metadata }) => metadata.name),
  );

/** Returns true for an Ingress that the nodes serve; `own` are the names of this controller's classes. */
export function isOwn(ingress: Ingress, own: ReadonlySet<string>): boolean {
  const name = classNameOf(ingress);
  return name !== undefined && own.has(name);
}

/**
 * Returns the name of the default class: the newest one that is marked, then by name, as upstream decides;
 * undefined for none.
 */
export function defaultClass(classes: readonly IngressClass[]): string | undefined {
  const [first] = classes
    .filter(({ metadata }) => metadata.annotations?.[defaultClassAnnotation] === 'true')
    .toSorted(
      ({ metadata: a }, { metadata: b }) =>
        compare(b.creationTimestamp, a.creationTimestamp) || compare(a.name, b.name),
    );
  return first?.metadata.name;
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Compares by creation time, then by uid, so that every node and master has the same order. */
export const byAge = ({ metadata: a }: Ingress, { metadata: b }: Ingress): number =>
  compare(a.creationTimestamp, b.creationTimestamp) || compare(a.uid, b.uid);
