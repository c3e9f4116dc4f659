/** Admission: plugins change a write before it is validated, or refuse it before or after, in the order of their list. */
import type { Admission, AdmissionPlugin } from './plugin.ts';

export interface AdmissionChain {
  mutate(admission: Admission): Promise<void>;
  validate(admission: Admission): Promise<void>;
  notStored(admission: Admission): void;
}

export const admissionChain = (plugins: readonly AdmissionPlugin[]): AdmissionChain => ({
  async mutate(admission) {
    for (const plugin of plugins) await plugin.mutate?.(admission);
  },
  async validate(admission) {
    for (const plugin of plugins) await plugin.validate?.(admission);
  },
  notStored(admission) {
    for (const plugin of plugins) plugin.notStored?.(admission);
  },
});
