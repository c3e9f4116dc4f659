/** Pods from files, and the actions on their mirror pods. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Node } from '../../../../../src/api/core/v1/node/node.ts';
import { isCritical } from '../../../../../src/kubelet/node/plan/eviction-order.ts';
import {
  isMirrorOf,
  isStatic,
  mirrorFor,
  mirrorStep,
  readStaticPod,
} from '../../../../../src/kubelet/node/plan/static-pod.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);
const read = (text: string, path = '/etc/pods/web.yaml', nodeName = 'node-1') =>
  readStaticPod(text, { nodeName, path, hash });
const text = (metadata: object, spec: object = {}) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', ...metadata },
    spec: { containers: [{ name: 'a', image: 'b' }], ...spec },
  });
const node = { metadata: { name: 'node-1', uid: 'n' } } as Node;

describe('a file of a static pod', () => {
  it('is a pod of this node, with all defaults', () => {
    const pod = read(text({}, { tolerations: [{ key: 'a', operator: 'Exists' }] }));
    assert.deepEqual(
      [pod.metadata.name, pod.metadata.namespace, pod.spec.nodeName],
      ['web-node-1', 'default', 'node-1'],
    );
    assert.equal(pod.spec.restartPolicy, 'Always');
    assert.deepEqual(pod.spec.tolerations?.at(-1), { operator: 'Exists', effect: 'NoExecute' });
    assert.ok(isStatic(pod) && isCritical(pod));
    assert.match(pod.metadata.uid, /^[0-9a-f]{32}$/);
  });

  it('is the same pod as long as its manifest is equal', () => {
    const { uid } = read(text({})).metadata;
    assert.equal(read(`${text({})}\n# a remark\n`).metadata.uid, uid);
    assert.notEqual(read(text({ labels: { a: 'b' } })).metadata.uid, uid);
    assert.notEqual(read(text({}), '/etc/pods/other.yaml').metadata.uid, uid);
    assert.notEqual(read(text({}), undefined, 'node-2').metadata.uid, uid);
  });

  it('does not choose its uid, which is the name of a directory', () => {
    assert.match(read(text({ uid: '../../etc' })).metadata.uid, /^[0-9a-f]{32}$/);
    assert.notEqual(read(text({ uid: 'a' })).metadata.uid, 'a');
  });

  it('is rejected with a message of one line if it is invalid', () => {
    for (const [bad, why] of [
      ['', /expected one YAML document, found 0/],
      ['[]', /the body must be an object/],
      [text({ name: '' }), /metadata.name: Required value/],
      [text({ name: 'x'.repeat(250) }), /metadata.name/],
      [text({ namespace: 'A' }), /namespace/],
      [text({ annotations: { 'a b': '' } }), /annotations/],
      [text({}, { containers: [{ name: 'a' }] }), /image/],
      [text({}, { ephemeralContainers: [{ name: 'e', image: 'f' }] }), /cannot be set on create/],
    ] as const)
      assert.throws(
        () => read(bad),
        (error: Error) => why.test(error.message) && !error.message.includes('\n'),
        String(why),
      );
  });
});

describe('a mirror pod', () => {
  const pod = read(text({ labels: { app: 'web' } }));
  const mirror = { ...pod, metadata: { ...pod.metadata, ...mirrorFor(pod, node).metadata, uid: 'api' } };

  it('has an owner reference to its node', () => {
    assert.ok(isMirrorOf(mirror, pod));
    assert.deepEqual(mirror.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'n', controller: true },
    ]);
    assert.deepEqual(mirror.metadata.labels, { app: 'web' });
  });

  it('is created while its Node exists, and deleted when it is outdated or its file is removed', () => {
    const going = { ...mirror, metadata: { ...mirror.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    const goingNode = { metadata: { ...node.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } as Node;
    assert.equal(mirrorStep(pod, undefined, node), 'create');
    assert.equal(mirrorStep(pod, undefined, undefined), undefined);
    assert.equal(mirrorStep(pod, undefined, goingNode), undefined);
    assert.equal(mirrorStep(pod, mirror, node), undefined);
    assert.equal(mirrorStep(pod, going, node), 'delete');
    assert.equal(mirrorStep(read(text({})), mirror, node), 'delete');
    assert.equal(mirrorStep(undefined, mirror, node), 'delete');
    assert.equal(mirrorStep(undefined, undefined, node), undefined);
  });
});
