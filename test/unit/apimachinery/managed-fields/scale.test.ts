/** Owners of the replica count in an object and in its Scale. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldSet, writeFields } from '../../../../src/apimachinery/managed-fields/field-set.ts';
import { idOf, type Manager, type Managers } from '../../../../src/apimachinery/managed-fields/managers.ts';
import { scaleManagers, withScaleManagers } from '../../../../src/apimachinery/managed-fields/scale.ts';

const replicas = ['f:spec', 'f:replicas'];
const selector = ['f:spec', 'f:selector'];

const manager = (name: string, operation: 'Apply' | 'Update', ...paths: string[][]): Manager => ({
  ...{ manager: name, operation, apiVersion: 'apps/v1', subresource: '', time: undefined },
  fields: FieldSet.of(...paths),
});
const scaler: Manager = {
  ...manager('scaler', 'Apply', replicas),
  ...{ subresource: 'scale', apiVersion: 'autoscaling/v1' },
};
const byId = (...all: Manager[]): Managers => new Map(all.map((one) => [idOf(one), one]));
const shown = (managers: Managers) =>
  [...managers.values()].map(({ manager: name, apiVersion, fields }) => [
    name,
    apiVersion,
    writeFields(fields),
  ]);

const count = { 'f:spec': { 'f:replicas': {} } };
const rest = { 'f:spec': { 'f:selector': {} } };

test('the Scale has only the managers that own spec.replicas', () => {
  const managers = byId(manager('a', 'Apply', replicas, selector), manager('b', 'Update', selector));
  assert.deepEqual(shown(scaleManagers(managers)), [['a', 'autoscaling/v1', count]]);
});

test('a manager that lost spec.replicas in the Scale loses it in the object, and is removed without other fields', () => {
  const managers = byId(manager('a', 'Apply', replicas, selector), manager('b', 'Update', replicas));
  assert.deepEqual(shown(withScaleManagers(managers, byId(scaler), 'apps/v1')), [
    ['a', 'apps/v1', rest],
    ['scaler', 'apps/v1', count],
  ]);
});

test('a manager that kept spec.replicas in the Scale keeps its other fields of the object', () => {
  for (const operation of ['Apply', 'Update'] as const) {
    const managers = byId(manager('a', operation, replicas, selector));
    const after = withScaleManagers(managers, scaleManagers(managers), 'apps/v1');
    assert.deepEqual(after, managers);
  }
});

test('a manager of other fields of the Scale owns no field of the object', () => {
  const other = { ...scaler, fields: FieldSet.of(['f:status', 'f:replicas']) };
  const managers = byId(manager('a', 'Apply', selector));
  assert.deepEqual(withScaleManagers(managers, byId(other), 'apps/v1'), managers);
});
