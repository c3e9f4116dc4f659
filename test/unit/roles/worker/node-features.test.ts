import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replaceable } from '../../../../src/base/current.ts';
import type { Transport } from '../../../../src/client/transport.ts';
import type { FeatureName } from '../../../../src/features/names.ts';
import { nodeFeatures, runsFeature } from '../../../../src/roles/worker/node-features.ts';

const transport: Transport = { request: () => assert.fail('no request'), close: () => undefined };

const trust = { identity: replaceable({ key: '', certificate: '' }), authority: replaceable('') };

const settings = (features: readonly FeatureName[] | undefined) => ({
  'data-dir': '/var/lib/minik8s',
  'docker-socket': '/run/docker.sock',
  'watch-folder': ['/srv'],
  features,
});

test('a node runs every feature unless the setting features lists others', () => {
  assert.equal(runsFeature(settings(undefined), 'host-names'), true);
  assert.equal(runsFeature(settings(['host-names']), 'host-names'), true);
  assert.equal(runsFeature(settings(['slurm']), 'host-names'), false);
  assert.equal(runsFeature(settings([]), 'host-names'), false);
});

test('a node without triggers watches no folders, and without functions it still runs the part that other pods use', () => {
  const isClosed = (features: readonly FeatureName[] | undefined) =>
    nodeFeatures(settings(features), transport, trust).map((feature) => feature.isClosed !== undefined);
  assert.deepEqual(isClosed(undefined), [false, true, false, false]);
  assert.deepEqual(isClosed(['functions', 'slurm']), [false, true]);
  assert.deepEqual(isClosed([]), [false, true]);
});
