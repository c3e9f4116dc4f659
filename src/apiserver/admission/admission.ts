/**
 * Admission: plugins change a write before it is validated, or reject it before or after, in the order of
 * their list.
 */
import { inChildSpan } from '../../base/tracing/current-span.ts';
import type { Admission, AdmissionPlugin } from './plugin.ts';

export interface AdmissionChain {
  mutate(admission: Admission): Promise<void>;
  validate(admission: Admission): Promise<void>;
  notStored(admission: Admission): void;
}

export const admissionChain = (plugins: readonly AdmissionPlugin[]): AdmissionChain => ({
  mutate: (admission) =>
    inChildSpan('admission mutate', attributesOf(admission), async () => {
      for (const plugin of plugins) await plugin.mutate?.(admission);
    }),
  validate: (admission) =>
    inChildSpan('admission validate', attributesOf(admission), async () => {
      for (const plugin of plugins) await plugin.validate?.(admission);
    }),
  notStored(admission) {
    for (const plugin of plugins) plugin.notStored?.(admission);
  },
});

const attributesOf = ({ operation, definition: { group, plural: resource } }: Admission) => ({
  operation,
  group,
  resource,
});
