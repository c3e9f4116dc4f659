/** What a pod may name that is not served: only what every Kubernetes has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podResource } from '../../../../src/api/core/v1/pod.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import type { Admission } from '../../../../src/apiserver/admission/plugin.ts';
import { podReferences } from '../../../../src/kube-apiserver/admission/pod-references.ts';

const definition = podResource as unknown as ResourceDefinition;

/** The pod's specification as it is stored, or why it is refused. */
async function admitted(spec: object, over: Partial<Admission> = {}): Promise<object | string> {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { ...spec },
  } as unknown as KubeObject;
  const admission = {
    operation: 'create',
    definition,
    namespace: 'a',
    name: 'p',
    subresource: '',
    object,
  } as const;
  try {
    await podReferences.mutate?.({ user: { name: 'u', groups: [] }, ...admission, ...over });
    return (object as unknown as { spec: object }).spec;
  } catch (error) {
    assert.ok(error instanceof StatusError && error.status.code === 403, String(error));
    return error.message.replace('pods "p" is forbidden: ', '');
  }
}

for (const [title, spec, expected] of [
  ['nothing', {}, {}],
  ['a runtime', { runtimeClassName: 'gvisor' }, /^pod rejected: RuntimeClass "gvisor" not found$/],
  ['overhead without a runtime', { overhead: { cpu: '1' } }, /^pod rejected: Pod Overhead set without/],
  ['no overhead', { overhead: {} }, { overhead: {} }],
  ['a class of its own', { priorityClassName: 'mine' }, /^no PriorityClass with name mine was found$/],
  ['no class', { priorityClassName: '' }, { priorityClassName: '' }],
  [
    'the class of what a node needs',
    { priorityClassName: 'system-node-critical' },
    { priorityClassName: 'system-node-critical', priority: 2_000_001_000 },
  ],
  [
    'the class of what a cluster needs, and its number',
    { priorityClassName: 'system-cluster-critical', priority: 2_000_000_000 },
    { priorityClassName: 'system-cluster-critical', priority: 2_000_000_000 },
  ],
  [
    'a class and another number',
    { priorityClassName: 'system-cluster-critical', priority: 5 },
    /^the integer value of priority \(5\) must not be provided in pod spec; .* computed 2000000000 /,
  ],
  ['a number alone', { priority: 5 }, /\(5\) must not be provided in pod spec; .* computed 0 /],
  ['the number of none', { priority: 0 }, { priority: 0 }],
] as const)
  test(`a pod that names ${title} is ${expected instanceof RegExp ? 'refused' : 'taken'}`, async () => {
    const found = await admitted(spec);
    if (expected instanceof RegExp) assert.match(String(found), expected);
    else assert.deepEqual(found, expected);
  });

test('only new pods are looked at', async () => {
  const spec = { runtimeClassName: 'gvisor' };
  for (const over of [
    { operation: 'update' },
    { subresource: 'status' },
    { definition: { ...definition, group: 'example.com' } },
    { definition: { ...definition, plural: 'others' } },
  ] as const)
    assert.deepEqual(await admitted(spec, over), spec);
});
