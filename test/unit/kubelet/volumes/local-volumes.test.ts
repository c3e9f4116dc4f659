/** Volumes whose folders an agent makes and removes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LocalVolumes } from '../../../../src/kubelet/volumes/local-volumes.ts';
import { volume } from '../../controllers/volumes/objects.ts';

type Over = NonNullable<Parameters<typeof volume>[1]>;
const volumes = new LocalVolumes({
  dataDir: '/data',
  nodeName: 'n1',
  exec: () => Promise.reject(new Error('nothing is to be run')),
});
const metadata = {
  labels: { 'minik8s.io/node': 'n1' },
  annotations: { 'pv.kubernetes.io/provisioned-by': 'minik8s.io/local' },
};
const spec = { hostPath: undefined, local: { path: '/data/local-volumes/v' } };

describe('the folder of a local volume', () => {
  it('is the agent’s own if the provisioner created the volume for this node, at the expected path', () => {
    assert.equal(volumes.isOwn(volume('v', { metadata, spec })), true);
  });

  for (const [what, over] of [
    ['the provisioner has not created', { metadata: { ...metadata, annotations: {} }, spec }],
    [
      'another provisioner has created',
      {
        metadata: { ...metadata, annotations: { 'pv.kubernetes.io/provisioned-by': 'minik8s.io/nfs' } },
        spec,
      },
    ],
    ['is on another node', { metadata: { ...metadata, labels: { 'minik8s.io/node': 'n2' } }, spec }],
    ['has no node', { metadata: { ...metadata, labels: {} }, spec }],
    ['lies elsewhere', { metadata, spec: { ...spec, local: { path: '/data/local-volumes/w' } } }],
    ['is not local', { metadata, spec: { hostPath: { path: '/data/local-volumes/v', type: '' } } }],
  ] as [string, Over][])
    it(`is not the node's own for a volume that ${what}`, () => {
      assert.equal(volumes.isOwn(volume('v', over)), false);
    });
});
