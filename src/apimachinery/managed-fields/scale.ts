/**
 * Owners of the replica count, which `/scale` shows as a field of a Scale (k8s.io/apimachinery ScaleHandler).
 * Pure.
 */
import { FieldSet } from './field-set.ts';
import { idOf, type Manager, type Managers, withFields } from './managers.ts';

/** The field in a Scale, and in every kind that has a scale subresource. */
const replicas = ['f:spec', 'f:replicas'];
const replicasAlone = FieldSet.of(replicas);

export const scaleVersion = 'autoscaling/v1';

const inScale = (manager: Manager): Manager =>
  withFields({ ...manager, apiVersion: scaleVersion }, replicasAlone);

/** Returns the managers of an object that own the replica count, as managers of its Scale. */
export function scaleManagers(managers: Managers): Map<string, Manager> {
  const shown = new Map<string, Manager>();
  for (const manager of managers.values()) {
    if (manager.fields.has(replicas)) shown.set(idOf(inScale(manager)), inScale(manager));
  }
  return shown;
}

/**
 * Returns the managers of an object after its Scale has got the given managers; `apiVersion` is the object's.
 */
export function withScaleManagers(
  managers: Managers,
  scale: Managers,
  apiVersion: string,
): Map<string, Manager> {
  const after = new Map<string, Manager>();
  const left = new Map([...scale].filter(([, { fields }]) => fields.has(replicas)));
  for (const [id, manager] of managers) {
    const inTheirs = idOf(inScale(manager));
    if (!manager.fields.has(replicas) || left.has(inTheirs)) {
      after.set(id, manager);
      if (manager.fields.has(replicas)) left.delete(inTheirs);
      continue;
    }
    const fields = manager.fields.difference(replicasAlone);
    if (!fields.isEmpty) after.set(id, withFields(manager, fields));
  }
  for (const manager of left.values()) {
    const ours = withFields({ ...manager, apiVersion }, replicasAlone);
    after.set(idOf(ours), ours);
  }
  return after;
}
