/**
 * Admission: plugins change a write before it is validated, or reject it before or after, in the order of
 * their list.
 */
import { inChildSpan } from '../../base/tracing/current-span.ts';
import type { Admission, AdmissionPlugin, SubresourceRequest } from './plugin.ts';

export interface AdmissionChain {
  mutate(admission: Admission): Promise<void>;
  validate(admission: Admission): Promise<void>;
  /** Called for a request whose body is not stored itself: a connection, an eviction, a binding. */
  review(request: SubresourceRequest): Promise<void>;
  notStored(admission: Admission): void;
}

export const admissionChain = (plugins: readonly AdmissionPlugin[]): AdmissionChain => ({
  mutate: (admission) =>
    inChildSpan('admission mutate', attributesOf(admission), async () => {
      if (await mutateOnce(plugins, admission)) await mutateOnce(plugins, admission);
    }),
  validate: (admission) =>
    inChildSpan('admission validate', attributesOf(admission), async () => {
      for (const plugin of plugins) await plugin.validate?.(admission);
    }),
  review: (request) =>
    inChildSpan('admission review', attributesOf(request), async () => {
      for (const plugin of plugins) await plugin.review?.(request);
    }),
  notStored(admission) {
    for (const plugin of plugins) plugin.notStored?.(admission);
  },
});

/** Resolves to true if a plugin requests another round. */
async function mutateOnce(plugins: readonly AdmissionPlugin[], admission: Admission): Promise<boolean> {
  let again = false;
  for (const plugin of plugins) if ((await plugin.mutate?.(admission)) === 'again') again = true;
  return again;
}

const attributesOf = ({
  operation,
  definition: { group, plural: resource },
}: Pick<Admission | SubresourceRequest, 'definition' | 'operation'>) => ({
  operation,
  group,
  resource,
});
