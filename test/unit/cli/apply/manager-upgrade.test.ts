/** Managed fields of an object that changes from client-side to server-side apply. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lastAppliedAnnotation } from '../../../../src/apimachinery/last-applied.ts';
import { annotationOwners, upgradedEntries } from '../../../../src/cli/apply/manager-upgrade.ts';

const entry = (manager: string, operation: 'Apply' | 'Update', fieldsV1: object, more = {}) => ({
  manager,
  operation,
  apiVersion: 'v1',
  fieldsV1: fieldsV1 as Record<string, unknown>,
  ...more,
});
const data = (...keys: string[]) => ({ 'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) });
const other = entry('controller', 'Update', data('c'));

describe('an upgrade to server-side apply', () => {
  it("adds the client's fields to the applier's", () => {
    const entries = [entry('applier', 'Apply', data('a')), entry('client', 'Update', data('b')), other];
    assert.deepEqual(upgradedEntries(entries, ['client'], 'applier'), [
      entry('applier', 'Apply', data('a', 'b')),
      other,
    ]);
  });

  it("assigns the client's fields to the applier if it has no entry yet", () => {
    const entries = [entry('client', 'Update', data('b')), other];
    assert.deepEqual(upgradedEntries(entries, ['client'], 'applier'), [
      entry('applier', 'Apply', data('b')),
      other,
    ]);
  });

  it('leaves the status of the client alone', () => {
    const status = entry('client', 'Update', { 'f:status': {} }, { subresource: 'status' });
    assert.equal(upgradedEntries([status, other], ['client'], 'applier'), undefined);
  });

  it('changes nothing without an entry of the client', () => {
    const entries = [entry('applier', 'Apply', data('a')), other];
    assert.equal(upgradedEntries(entries, ['client'], 'applier'), undefined);
  });
});

describe('owners of the last applied configuration', () => {
  const owning = { 'f:metadata': { 'f:annotations': { [`f:${lastAppliedAnnotation}`]: {} } } };
  const object = {
    metadata: { managedFields: [entry('kubectl', 'Update', owning), entry('ssa', 'Apply', owning), other] },
  };
  it('are the managers of the operation whose fields include the annotation', () => {
    assert.deepEqual(annotationOwners(object, 'Update'), ['kubectl']);
    assert.deepEqual(annotationOwners(object, 'Apply'), ['ssa']);
  });
});
