/**
 * The objects without which requests would have no priority level (upstream: flowcontrol/bootstrap, the
 * mandatory ones).
 */
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import type { FixedObject } from '../../fixed-object.ts';
import { fixedCatchAll, fixedExempt, fixedFlowSchemas } from './fixed-objects.ts';
import { flowSchemaResource } from './flow-schema.ts';
import { priorityLevelConfigurationResource } from './priority-level-configuration.ts';
import type { FlowSchema, PriorityLevelConfiguration } from './types.gen.ts';

/** Annotation that marks an object whose specification a server maintains. */
const autoUpdate = 'apf.kubernetes.io/autoupdate-spec';
const apiVersion = apiVersionOf(flowSchemaResource);
const metadataOf = (name: string) => ({ name, annotations: { [autoUpdate]: 'true' } });

/** Returns the object with `spec`; undefined if it is unchanged. */
function restore<T extends KubeObject & { spec: unknown }>(existing: T, spec: T['spec']): T | undefined {
  const { metadata } = existing;
  if (metadata.annotations?.[autoUpdate] === 'true' && deepEqual(existing.spec, spec)) return undefined;
  const annotations = { ...metadata.annotations, [autoUpdate]: 'true' };
  return { ...existing, metadata: { ...metadata, annotations }, spec };
}

export const mandatoryFlowSchemas: readonly FixedObject<FlowSchema>[] = [...fixedFlowSchemas].map(
  ([name, spec]) => ({
    ref: flowSchemaResource,
    draft: { apiVersion, kind: 'FlowSchema', metadata: metadataOf(name), spec },
    restored: (existing) => restore(existing, spec),
  }),
);

export const mandatoryPriorityLevels: readonly FixedObject<PriorityLevelConfiguration>[] = [
  {
    ref: priorityLevelConfigurationResource,
    draft: {
      apiVersion,
      kind: 'PriorityLevelConfiguration',
      metadata: metadataOf('catch-all'),
      spec: fixedCatchAll,
    },
    restored: (existing) => restore(existing, fixedCatchAll),
  },
  {
    ref: priorityLevelConfigurationResource,
    draft: {
      apiVersion,
      kind: 'PriorityLevelConfiguration',
      metadata: metadataOf('exempt'),
      spec: fixedExempt,
    },
    // Administrators may set the shares and the lendable part.
    restored: (existing) =>
      restore(
        existing,
        existing.spec.exempt ? { ...fixedExempt, exempt: existing.spec.exempt } : fixedExempt,
      ),
  },
];
