/** Tables of the requests for versions of functions that a node may and may not make. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { storageKey } from '../../../../../src/apimachinery/resource-definition.ts';
import type { Admission } from '../../../../../src/apiserver/admission/plugin.ts';
import { functionVersionResource } from '../../../../../src/features/functions/api/function-version.ts';
import { functionNodeAccess } from '../../../../../src/features/functions/server/node-access.ts';
import type { ResourceAccess } from '../../../../../src/kube-apiserver/authorization/node-access.ts';
import { meta } from '../../../controllers/objects.ts';

const kept = storageKey(functionVersionResource, 'default', 'v1');
/** A server with the version v1 in its store; its cache may be behind. */
const access = (isCached = true) => {
  const stored = { key: kept, object: { kind: 'FunctionVersion', metadata: meta('v1') }, revision: 1 };
  return functionNodeAccess({
    cache: { get: (key: string) => (isCached && key === kept ? stored : undefined) },
    store: {
      get: async (key: string) =>
        key === kept ? { key, value: Buffer.from(JSON.stringify(stored.object)), revision: 1 } : undefined,
    },
  } as never);
};

describe('a version of a function', () => {
  const rule = (resource: string, isCached?: boolean) =>
    access(isCached).rules.find(({ resources }) => resources.includes(resource)) ?? assert.fail();
  const may = (resource: string, name: string, isNeeded: boolean, isCached?: boolean) =>
    rule(resource, isCached).when({ type: 'resource', namespace: 'default', name } as ResourceAccess, 'n1', {
      isNeeded: async (request, node) => isNeeded && request.name === name && node === 'n1',
    });

  it('may be read by a node whose pod needs it, and the node may update its status', () => {
    const { rules } = access();
    assert.deepEqual(
      rules.map(({ group, resources, verbs }) => [group, resources.join(), verbs.join()]),
      [
        ['minik8s.io', 'functionversions', 'get'],
        ['minik8s.io', 'functionversions/status', 'update'],
      ],
    );
  });
  for (const [resource, name, isNeeded, allowed] of [
    ['functionversions', 'v1', true, true],
    ['functionversions', 'v1', false, false],
    // The node learns that it is gone, and removes the image.
    ['functionversions', 'gone', false, true],
    ['functionversions', '', true, false],
    ['functionversions', '', false, false],
    ['functionversions/status', 'v1', true, true],
    ['functionversions/status', 'v1', false, false],
    ['functionversions/status', 'gone', false, false],
  ] as const)
    it(`is ${allowed ? 'allowed' : 'denied'} to a node for ${resource} ${name || 'of all names'} if it is ${isNeeded ? 'needed' : 'not needed'}`, async () => {
      assert.equal(await may(resource, name, isNeeded), allowed);
    });
  it('does not count as deleted if only the cache does not show it yet', async () => {
    assert.equal(await may('functionversions', 'v1', false, false), false);
  });
});

describe('a pod needs', () => {
  const needs = (...images: string[]) =>
    access().needsOf?.({
      metadata: meta('p', { labels: { 'minik8s.io/function-version': 'v1' } }),
      spec: { containers: images.map((image) => ({ image })) },
    } as unknown as Pod);
  const both = ['functionversions', 'functionversions/status'].map((resource) => ({
    resource,
    names: ['v1'],
  }));
  const own = 'minik8s.function/default/f:1';
  for (const [what, images, expected] of [
    ['the version of its label, with an image of a function of its namespace', [own], both],
    ['the version of its label, even if it has other containers', ['busybox', own], both],
    ['no version with another image', ['busybox'], []],
    ['no version with the image of another namespace', ['minik8s.function/other/f:1'], []],
    ['no version without a container', [], []],
  ] as const)
    it(what, () => assert.deepEqual(needs(...images), expected));
  it('no version without the label', () => {
    const pod = { metadata: meta('p'), spec: { containers: [{ image: own }] } } as unknown as Pod;
    assert.deepEqual(access().needsOf?.(pod), []);
  });
});

it('a static pod may not use the image of a function', () => {
  const { reservedImage } = access();
  assert.deepEqual(
    [reservedImage?.('minik8s.function/default/f:1'), reservedImage?.('busybox')],
    ['the image of a function', undefined],
  );
});

describe('the status of a build', () => {
  const { restrictions } = access();
  const version = (status?: object) => ({ kind: 'FunctionVersion', metadata: meta('v1'), status });
  const why = (before: object | undefined, after: object | undefined, subresource = 'status') =>
    restrictions?.['minik8s.io/functionversions']?.check('n1', {
      subresource,
      ...(before && { old: version(before) }),
      ...(after && { object: version(after) }),
    } as unknown as Admission);
  const cannot = (what: string) => `node "n1" is not allowed to modify ${what}`;
  const built = (status: string) => ({ type: 'Built', status });
  const other = { type: 'Checked', status: 'True' };
  for (const [what, before, after, reason] of [
    ['of this node', {}, { nodeName: 'n1', log: 'done', conditions: [built('True')] }, undefined],
    ['of this node after one of another node', { nodeName: 'n2' }, { nodeName: 'n1' }, undefined],
    ['that keeps the name of another node', { nodeName: 'n2' }, { nodeName: 'n2' }, undefined],
    ['of another node', {}, { nodeName: 'n2' }, cannot('status.nodeName to the name of another node')],
    ['without a name', { nodeName: 'n1' }, {}, cannot('status.nodeName to the name of another node')],
    ['with a first lock', {}, { nodeName: 'n1', lock: 'a' }, undefined],
    ['with the same lock', { lock: 'a' }, { nodeName: 'n1', lock: 'a' }, undefined],
    ['with another lock', { lock: 'a' }, { nodeName: 'n1', lock: 'b' }, cannot('a lock that is set already')],
    ['without its lock', { lock: 'a' }, { nodeName: 'n1' }, cannot('a lock that is set already')],
    ['with a log of 8 KiB', {}, { nodeName: 'n1', log: 'é'.repeat(4096) }, undefined],
    [
      'with a longer log',
      {},
      { nodeName: 'n1', log: `${'é'.repeat(4096)}x` },
      'the log of a build may have at most 8192 bytes',
    ],
    [
      'with another Built',
      { conditions: [built('False'), other] },
      { nodeName: 'n1', conditions: [other, built('True')] },
      undefined,
    ],
    [
      'with a changed condition of another writer',
      {},
      { nodeName: 'n1', conditions: [other] },
      cannot('conditions but Built'),
    ],
    [
      'without a condition of another writer',
      { conditions: [other] },
      { nodeName: 'n1' },
      cannot('conditions but Built'),
    ],
  ] as const)
    it(`${what}: ${reason ?? 'allowed'}`, () => assert.equal(why(before, after), reason));
  it('is all that a node may write: it may not change, create or delete a version', () => {
    const reason = cannot('anything but the status of a version');
    assert.deepEqual(
      [why({}, {}, ''), why(undefined, {}), why({}, undefined), why({}, {}, 'scale')],
      [reason, reason, reason, reason],
    );
  });
});
