import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import {
  type ApiResources,
  discover,
  findResource,
  inCategory,
  kindName,
  resourceOfKind,
} from '../../../../src/cli/objects/discovery.ts';
import { notServedKind, notServedResource } from '../../../../src/cli/objects/kubernetes-kinds.ts';
import { createRequester } from '../../../../src/client/requester.ts';
import { registry } from '../../../../src/features/kinds.ts';
import { startTestServer } from '../../../fixtures/api-server.ts';

/**
 * Returns the resources that discovery finds on a minik8s server; `old` servers have no aggregated documents.
 */
async function discovered(old: boolean): Promise<ApiResources> {
  const server = await startTestServer();
  try {
    return await discover(
      createRequester({
        async request({ path, headers }) {
          const asked = old ? { accept: 'application/json' } : headers;
          const { status, text } = await server.call('GET', path, undefined, {
            ...(asked && { headers: asked }),
          });
          const body = (async function* () {
            yield Buffer.from(text);
          })();
          return { status, header: () => undefined, body };
        },
        close() {},
      }),
    );
  } finally {
    await server.stop();
  }
}

for (const old of [false, true]) {
  test(`all kinds are discovered, from ${old ? 'legacy' : 'aggregated'} documents`, async () => {
    const all = await discovered(old);
    const found = all.map(({ group, version, kind, plural, namespaced, shortNames, singular }) =>
      [group, version, kind, plural, namespaced, [...shortNames].join(), singular].join(' '),
    );
    const expected = registry.map(({ group, version, kind, plural, namespaced, shortNames, singular }) =>
      [group, version, kind, plural, namespaced, shortNames.join(), singular].join(' '),
    );
    assert.deepEqual(found.sort(), expected.sort());
    assert.ok(findResource(all, 'pods').subresources.includes('log'));
    assert.ok(findResource(all, 'deploy').subresources.includes('scale'));
  });
}

const resource = (group: string, version: string, kind: string, more: JsonObject = {}) => ({
  group,
  version,
  kind,
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: ['list'],
  subresources: [],
  ...more,
});
const all: ApiResources = [
  resource('', 'v1', 'Event', { shortNames: ['ev'] }),
  resource('', 'v1', 'Pod', { shortNames: ['po'], categories: ['all'] }),
  resource('apps', 'v1', 'Deployment', { shortNames: ['deploy'], categories: ['all'] }),
  resource('events.k8s.io', 'v1', 'Event', { shortNames: ['ev'] }),
  resource('autoscaling', 'v2', 'Scaler', { categories: ['all'] }),
  resource('autoscaling', 'v1', 'Scaler', { categories: ['all', 'old'] }),
];
const words: [word: string, found: string][] = [
  ['pods', 'v1 pod'],
  ['pod', 'v1 pod'],
  ['po', 'v1 pod'],
  ['Pod', 'v1 pod'],
  ['PODS', 'v1 pod'],
  ['ev', 'v1 event'],
  ['events.events.k8s.io', 'v1 event.events.k8s.io'],
  ['events.v1.events.k8s.io', 'v1 event.events.k8s.io'],
  ['deploy', 'v1 deployment.apps'],
  ['deployments.apps', 'v1 deployment.apps'],
  ['deployment.v1.apps', 'v1 deployment.apps'],
  ['scalers', 'v2 scaler.autoscaling'],
  ['scalers.v1.autoscaling', 'v1 scaler.autoscaling'],
];
for (const [word, found] of words) {
  test(`the word ${word} names the resource ${found}`, () => {
    const resource = findResource(all, word);
    assert.equal(`${resource.version} ${kindName(resource)}`, found);
  });
}

test('a resource that is not served is rejected with its name', () => {
  const message = `the server doesn't have a resource type "blub.apps"; see minik8s ctl api-resources`;
  assert.throws(() => findResource(all, 'blub.apps'), { message });
  for (const word of ['pdos', 'pods.apps', 'POD.nosuch'])
    assert.throws(() => findResource(all, word), {
      message: /^the server doesn't have a resource type ".*"\. Did you mean pods?\?$/,
    });
  for (const word of [
    'resourceclaim',
    'ResourceClaims',
    'resourceclaims.resource.k8s.io',
    'resourceclaims.v1.resource.k8s.io',
  ])
    assert.throws(() => findResource(all, word), {
      message: 'resourceclaims are known to Kubernetes, not served by minik8s',
    });
  assert.throws(() => findResource(all, 'resourceclaims.apps'), { message: /^the server doesn't have/ });
  assert.equal(resourceOfKind(all, 'v1', 'Deployment'), undefined);
  assert.equal(resourceOfKind(all, 'apps/v1', 'Deployment')?.plural, 'deployments');
});

test('no served kind is reported as not served', () => {
  for (const { plural, singular, shortNames, kind, group, version } of registry) {
    for (const word of [plural, singular, ...shortNames])
      assert.equal(notServedResource(word, ''), undefined, word);
    assert.equal(notServedKind(group ? `${group}/${version}` : version, kind), undefined, kind);
  }
});

test('a category stands for all its kinds', () => {
  const names = inCategory(all, 'all').map((one) => `${one.version} ${kindName(one)}`);
  assert.deepEqual(names, ['v1 pod', 'v1 deployment.apps', 'v2 scaler.autoscaling']);
  assert.deepEqual(inCategory(all, 'pods'), []);
});
