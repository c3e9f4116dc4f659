/** The interval at which an autoscaler is evaluated: an annotation of minik8s. Pure. */
import { invalidCause } from '../../../apimachinery/field-error.ts';
import type { ObjectMeta } from '../../../apimachinery/meta.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';

/** Interval in seconds. */
export const intervalAnnotation = 'minik8s.io/scale-interval-seconds';

/** Returns the interval; undefined if the annotation is missing or is not a number from 1 to 3600. */
export function intervalSeconds({ annotations }: ObjectMeta): number | undefined {
  const asked = Number(annotations?.[intervalAnnotation]);
  return asked >= 1 && asked <= 3600 ? asked : undefined;
}

export function intervalCauses(metadata: ObjectMeta): StatusCause[] {
  const value = metadata.annotations?.[intervalAnnotation];
  if (value === undefined || intervalSeconds(metadata) !== undefined) return [];
  const why = 'must be a number of seconds from 1 to 3600';
  return [invalidCause(`metadata.annotations[${intervalAnnotation}]`, value, why)];
}
