import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import type { Admission } from '../../../../src/apiserver/admission/plugin.ts';
import {
  addDefaultTolerations,
  defaultTolerationSeconds,
} from '../../../../src/kube-apiserver/admission/default-toleration-seconds.ts';
import { startTestServer } from '../../../fixtures/api-server.ts';
import { pod } from '../../controllers/objects.ts';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';
const defaults = { notReadySeconds: 300, unreachableSeconds: 5 };

for (const [title, toleration, expected] of [
  [
    'not-ready without a limit',
    { key: notReady, operator: 'Exists', effect: 'NoExecute' },
    [
      [notReady, undefined],
      [unreachable, 5],
    ],
  ],
  [
    'unreachable for another time',
    { key: unreachable, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
    [
      [unreachable, 60],
      [notReady, 300],
    ],
  ],
  ['everything', { operator: 'Exists' }, [[undefined, undefined]]],
  [
    'another effect',
    { operator: 'Exists', effect: 'NoSchedule' },
    [
      [undefined, undefined],
      [notReady, 300],
      [unreachable, 5],
    ],
  ],
] as const) {
  test(`a pod that tolerates ${title} gets only the tolerations it lacks`, () => {
    const object = pod('web', { spec: { tolerations: [toleration] } });
    const seen = () => object.spec.tolerations?.map(({ key, tolerationSeconds }) => [key, tolerationSeconds]);
    addDefaultTolerations(object, defaults);
    assert.deepEqual(seen(), expected);
    addDefaultTolerations(object, defaults);
    assert.deepEqual(seen(), expected, 'a second time changes nothing');
  });
}

test('the server adds the tolerations to created pods and to pods that are updated without them', async () => {
  const server = await startTestServer({ defaultTolerations: { notReadySeconds: 7, unreachableSeconds: 0 } });
  try {
    const draft = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'default' },
      spec: { containers: [{ name: 'app', image: 'app:1' }] },
    };
    const expected = [
      { key: notReady, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 7 },
      { key: unreachable, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 },
    ];
    const path = '/api/v1/namespaces/default/pods';
    const made = (await server.call('POST', path, draft)).json<{ spec: { tolerations: unknown } }>();
    assert.deepEqual(made.spec.tolerations, expected);
    const spec = { ...draft.spec, serviceAccountName: 'default' };
    const put = await server.call('PUT', `${path}/web`, { ...draft, spec });
    assert.equal(put.status, 200, put.text);
    assert.deepEqual(put.json<{ spec: { tolerations: unknown } }>().spec.tolerations, expected);
  } finally {
    await server.stop();
  }
});

test('the default is five minutes, and only pods get tolerations', async () => {
  const server = await startTestServer();
  try {
    const spec = { containers: [{ name: 'app', image: 'app:1' }] };
    const made = await server.call('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'web' },
      spec,
    });
    const { tolerations } = made.json<{ spec: { tolerations: { tolerationSeconds: number }[] } }>().spec;
    assert.deepEqual(
      tolerations.map(({ tolerationSeconds }) => tolerationSeconds),
      [300, 300],
    );
  } finally {
    await server.stop();
  }
});

for (const [title, over, given] of [
  ['a pod', {}, true],
  ['a pod of another group', { definition: { ...podResource, group: 'example.com' } }, false],
  ['an object of another plural', { definition: { ...podResource, plural: 'others' } }, false],
  ['a binding of a pod', { subresource: 'binding' }, false],
] as const)
  test(`${title} gets ${given ? 'both tolerations' : 'no toleration'}`, async () => {
    const object = pod('web');
    const admission = { definition: podResource as unknown as ResourceDefinition, subresource: '', object };
    const plugin = defaultTolerationSeconds(defaults);
    await plugin.mutate?.({ ...admission, ...over } as unknown as Admission);
    assert.equal(object.spec.tolerations?.length, given ? 2 : undefined);
    const { object: _, ...deletion } = admission;
    await plugin.mutate?.({ ...deletion, ...over } as unknown as Admission);
  });
