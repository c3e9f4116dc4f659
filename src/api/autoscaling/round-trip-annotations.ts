/** The annotations in which autoscaling/v1 shows what it has no fields for. They are served there alone, and never stored. */
import type { KubeObject } from '../../apimachinery/meta.ts';

const prefix = 'autoscaling.alpha.kubernetes.io/';

export const roundTripAnnotations = {
  metrics: `${prefix}metrics`,
  currentMetrics: `${prefix}current-metrics`,
  conditions: `${prefix}conditions`,
  behavior: `${prefix}behavior`,
} as const;

const names: ReadonlySet<string> = new Set(Object.values(roundTripAnnotations));

/** The other annotations of the object. */
export const otherAnnotations = ({ metadata }: KubeObject): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => !names.has(name)));

/** Mutates the object. */
export function dropRoundTripAnnotations(object: KubeObject): void {
  if (object.metadata.annotations) object.metadata.annotations = otherAnnotations(object);
}
