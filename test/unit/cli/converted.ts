/** One manifest of another system, and the result of its conversion. */
import assert from 'node:assert/strict';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { convert } from '../../../src/cli/convert/convert-plan.ts';

type Made = JsonObject & { readonly metadata: JsonObject; readonly spec: JsonObject };

/** Converts these manifests, which stand in a file `f`. */
export function converted(...objects: readonly JsonObject[]) {
  const {
    objects: made,
    notes,
    errors,
  } = convert(
    objects.map((object) => ({ where: 'f', object })),
    kubernetesFields,
  );
  return { made: made as Made[], notes, errors: errors.map(({ message }) => message) };
}

/** Converts a manifest that becomes one object. */
export function convertedOne(object: JsonObject): { readonly made: Made; readonly notes: readonly string[] } {
  const { made, notes, errors } = converted(object);
  assert.deepEqual(errors, []);
  assert.equal(made.length, 1);
  return { made: made[0] as Made, notes };
}
