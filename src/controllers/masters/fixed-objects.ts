/**
 * Recreates cluster-wide objects that must exist, and restores those that were changed: PriorityClasses, the
 * objects of API priority and fairness, and the local StorageClass. Runs on every master, for the same reason
 * as system-objects.ts.
 */
import type { FixedObject } from '../../api/fixed-object.ts';
import { fixedObjects } from '../../api/fixed-objects.ts';
import { isTerminating, type KubeObject, type ObjectKey } from '../../apimachinery/meta.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';

const keyOf = ({ ref, draft }: FixedObject): ObjectKey => `${ref.plural}/${draft.metadata.name}`;
const byKey: ReadonlyMap<ObjectKey, FixedObject> = new Map(
  fixedObjects.map((fixed) => [keyOf(fixed), fixed]),
);

export function fixedObjectsController({ client, informers, log }: ControllerContext): ControllerDefinition {
  const listers = new Map(
    [...new Set(fixedObjects.map(({ ref }) => ref))].map((ref) => [ref, informers.informerFor(ref).lister]),
  );

  async function keep(fixed: FixedObject): Promise<void> {
    const { ref, draft, restored } = fixed;
    const { name } = draft.metadata;
    const existing = listers.get(ref)?.get(name);
    const object = `${ref.kind} ${name}`;
    if (!existing) {
      log.info('creating a missing object of the system', { object });
      await tolerate(client.resource(ref).create(draft), isAlreadyExists);
      return;
    }
    // The deletion arrives as an event; the object is recreated then.
    const right = isTerminating(existing) ? undefined : restored?.(existing);
    if (!right) return;
    log.warn('an object of the system was changed; restoring it', { object });
    await tolerate(client.resource(ref).update(right), isNotFound, isConflict);
  }

  return {
    name: 'fixed-objects',
    workers: 1,
    watches: [...listers.keys()].map((ref) =>
      watched(ref, ({ metadata }: KubeObject) => {
        const key = `${ref.plural}/${metadata.name}`;
        return byKey.has(key) ? [key] : [];
      }),
    ),
    async reconcile(key) {
      const fixed = byKey.get(key);
      if (fixed) await keep(fixed);
      return undefined;
    },
  };
}
