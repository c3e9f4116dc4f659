import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { RequestScope } from '../../../../src/apiserver/request/request-scope.ts';
import { checkNodeMayRead } from '../../../../src/kube-apiserver/authorization/node-reads.ts';

const scopeOf = (name: string, definition: unknown) =>
  ({ user: { name, groups: ['system:nodes'] }, definition }) as unknown as RequestScope;
const pod = (nodeName?: string) =>
  ({ metadata: { name: 'p' }, spec: { ...(nodeName && { nodeName }) } }) as unknown as KubeObject;

test('a pod that was created for another node after the authorization of a request is not sent to the node', () => {
  const read = (name: string, object: KubeObject, definition: unknown = podResource) =>
    checkNodeMayRead(scopeOf(name, definition), { object });
  read('system:node:a', pod('a'));
  read('admin', pod('b'));
  read('system:node:a', pod('b'), configMapResource);
  read('system:node:a', pod('b'), { ...podResource, group: 'metrics.k8s.io' });
  for (const foreign of [pod('b'), pod()])
    assert.throws(
      () => read('system:node:a', foreign),
      /pods "p" is forbidden: the pod is not bound to node "a"/,
    );
});
