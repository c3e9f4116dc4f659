/** How often one autoscaler is looked at: an annotation of minik8s's own. Pure. */
import { invalidCause } from '../../../apimachinery/field-error.ts';
import type { ObjectMeta } from '../../../apimachinery/meta.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';

/** Seconds between two looks. */
export const intervalAnnotation = 'minik8s.io/scale-interval-seconds';

/** Undefined where it says nothing, or no number from 1 to 3600. */
export function intervalSeconds({ annotations }: ObjectMeta): number | undefined {
  const asked = Number(annotations?.[intervalAnnotation]);
  return asked >= 1 && asked <= 3600 ? asked : undefined;
}

export function intervalCauses(metadata: ObjectMeta): StatusCause[] {
  const said = metadata.annotations?.[intervalAnnotation];
  if (said === undefined || intervalSeconds(metadata) !== undefined) return [];
  const why = 'must be a number of seconds from 1 to 3600';
  return [invalidCause(`metadata.annotations[${intervalAnnotation}]`, said, why)];
}
