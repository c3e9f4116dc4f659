/**
 * The annotations with which autoscaling/v1 represents data for which it has no fields. They are only served
 * in v1 and never stored.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';

const prefix = 'autoscaling.alpha.kubernetes.io/';

export const roundTripAnnotations = {
  metrics: `${prefix}metrics`,
  currentMetrics: `${prefix}current-metrics`,
  conditions: `${prefix}conditions`,
  behavior: `${prefix}behavior`,
} as const;

const names: ReadonlySet<string> = new Set(Object.values(roundTripAnnotations));

/** Returns the other annotations of the object. */
export const otherAnnotations = ({ metadata }: KubeObject): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => !names.has(name)));

/** Removes these annotations. Mutates the object. */
export function dropRoundTripAnnotations(object: KubeObject): void {
  if (object.metadata.annotations) object.metadata.annotations = otherAnnotations(object);
}
