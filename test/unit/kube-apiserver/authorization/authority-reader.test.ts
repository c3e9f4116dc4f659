import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorityReader } from '../../../../src/kube-apiserver/authorization/authority-reader.ts';

const path = '/minik8s/certificate-authority';
const node = { name: 'system:node:a', groups: ['system:nodes', 'system:authenticated'] };

const rows: [
  what: string,
  user: { name: string; groups: string[] },
  verb: string,
  at: string,
  may: boolean,
][] = [
  ['a node reads', node, 'get', path, true],
  ['a joining machine may read them', { name: 'x', groups: ['system:bootstrappers'] }, 'get', path, true],
  [
    'a returning node may read them',
    { name: 'system:expired-node:a', groups: ['system:expired-nodes'] },
    'get',
    path,
    true,
  ],
  ['a node may watch them', node, 'watch', path, true],
  [
    'a joining machine may not watch them',
    { name: 'x', groups: ['system:bootstrappers'] },
    'watch',
    path,
    false,
  ],
  [
    'a returning node may not watch them',
    { name: 'system:expired-node:a', groups: ['system:expired-nodes'] },
    'watch',
    path,
    false,
  ],
  ['a node may not write them', node, 'post', path, false],
  ['a node may read nothing else with this right', node, 'get', `${path}/x`, false],
  ['other users may not read them by this rule', { name: 'anna', groups: ['people'] }, 'get', path, false],
];
for (const [what, user, verb, at, may] of rows)
  test(`for the authorities of the cluster, ${what}`, async () => {
    assert.equal(await authorityReader({ type: 'path', user, verb, path: at }), may);
  });
