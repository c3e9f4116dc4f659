import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byFeature, featureSettings } from '../../../src/features/settings.ts';

test('no two features have a setting of the same name', () => {
  const names = Object.values(byFeature).flatMap((rows) => Object.keys(rows));
  assert.deepEqual(Object.keys(featureSettings).toSorted(), names.toSorted());
});
