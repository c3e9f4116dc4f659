/** Selects and describes the changes of objects that a Trigger watches. Pure. */

import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { notAfter } from '../../../client/resource-version.ts';
import type { Trigger } from '../api/trigger.ts';
import type { Happening } from '../api/trigger-event-draft.ts';
import type { ChangeType } from '../api/trigger-fields.ts';
import { chainOfChange } from './own-objects-plan.ts';

type Source = NonNullable<Trigger['spec']['object']>;

/** Returns the watched namespace; '' for all. */
export const namespaceOf = ({ namespace }: Source, own: string, { namespaced }: ResourceDefinition) =>
  !namespaced || namespace === '*' ? '' : (namespace ?? own);

const changes = { ADDED: 'Created', MODIFIED: 'Updated', DELETED: 'Deleted' } as const;

/** Returns the event for a change, or undefined if the trigger ignores it. `time` is in RFC 3339. */
export function reportedChange(
  source: Source,
  plural: string,
  type: keyof typeof changes,
  object: KubeObject,
  time: string,
): Happening | undefined {
  const change = changes[type];
  return source.types.includes(change) ? happening(source, plural, change, object, time) : undefined;
}

/**
 * Returns the changes after `from` if their history is lost: each object in its current state, in the order
 * of its last change. Deletions in that time are unknown. `since` is the time of `from` in milliseconds.
 */
export function changedSince(
  source: Source,
  plural: string,
  objects: readonly KubeObject[],
  { from, since, time }: { readonly from: string; readonly since: number; readonly time: string },
): readonly { readonly resourceVersion: string; readonly happening: Happening | undefined }[] {
  return objects
    .filter(({ metadata }) => !notAfter(metadata.resourceVersion, from))
    .toSorted((a, b) => (notAfter(a.metadata.resourceVersion, b.metadata.resourceVersion) ? -1 : 1))
    .map((object) => {
      // Creation timestamps are whole seconds.
      const isNew = Date.parse(object.metadata.creationTimestamp) >= Math.floor(since / 1000) * 1000;
      return {
        resourceVersion: object.metadata.resourceVersion,
        happening: reportedChange(source, plural, isNew ? 'ADDED' : 'MODIFIED', object, time),
      };
    });
}

function happening(
  source: Source,
  plural: string,
  change: ChangeType,
  object: KubeObject,
  time: string,
): Happening {
  const { apiVersion, kind } = source;
  const chain = chainOfChange(source, object);
  const {
    name,
    namespace,
    uid,
    resourceVersion,
    labels,
    creationTimestamp,
    managedFields: _,
    ...more
  } = object.metadata;
  const identity = { name, namespace, uid, resourceVersion, labels, creationTimestamp };
  const whole = { ...object, apiVersion, kind, metadata: { ...identity, ...more } };
  return {
    key: ['object', uid, change, resourceVersion],
    type: `minik8s.io/object.${change.toLowerCase()}`,
    source: `/apis/${apiVersion}${namespace ? `/namespaces/${namespace}` : ''}/${plural}`,
    subject: name,
    time: change === 'Created' ? creationTimestamp : time,
    data: { change, object: whole },
    lessData: {
      change,
      object: { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } },
      truncated: true,
    },
    ...(chain.length > 0 && { depth: chain.length, chain }),
  };
}
