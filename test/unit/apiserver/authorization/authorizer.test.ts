/** Users with all rights, the union of several authorizers, and the rights of joining machines. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type AccessRequest,
  type Authorizer,
  mastersAuthorizer,
  refusal,
  unionAuthorizer,
} from '../../../../src/apiserver/authorization/authorizer.ts';
import { nodeNameOf, systemUser } from '../../../../src/apiserver/request/user.ts';
import { bootstrapperAuthorizer } from '../../../../src/kube-apiserver/authorization/node-bootstrapper.ts';

const bob = { name: 'bob', groups: ['system:authenticated'] };
const path = (text: string, verb = 'get'): AccessRequest => ({ type: 'path', user: bob, verb, path: text });
const refused = { allowed: false, reason: '' };
const resource = (over: Partial<Extract<AccessRequest, { type: 'resource' }>>): AccessRequest => ({
  type: 'resource',
  user: bob,
  verb: 'get',
  group: '',
  resource: 'pods',
  namespace: '',
  name: '',
  ...over,
});

test('the masters authorizer allows members of system:masters everything, and other users nothing', async () => {
  assert.equal(await mastersAuthorizer(resource({ user: systemUser('kube-scheduler') })), true);
  assert.equal(await mastersAuthorizer(resource({ user: { name: 'system:masters', groups: [] } })), false);
  assert.deepEqual(systemUser('kube-scheduler'), {
    name: 'system:kube-scheduler',
    groups: ['system:masters', 'system:authenticated'],
  });
});

test('a request is allowed if one of several authorizers allows it, and denied without authorizers', async () => {
  const yes: Authorizer = async () => true;
  const no: Authorizer = async () => false;
  for (const [rules, allowed] of [
    [[], false],
    [[no, no], false],
    [[no, yes], true],
    [[yes, no], true],
  ] as const)
    assert.equal((await unionAuthorizer(rules)(path('/metrics'))).allowed, allowed);
});

test('an allowed request has the reason of its authorizer, and a denied one the reasons of all', async () => {
  const yes: Authorizer = () => ({ allowed: true, reason: 'allowed by x' });
  const no =
    (reason: string): Authorizer =>
    () => ({ allowed: false, reason });
  assert.deepEqual(await unionAuthorizer([no('a'), yes])(path('/')), {
    allowed: true,
    reason: 'allowed by x',
  });
  const both = await unionAuthorizer([no('a'), () => false, no(''), no('b')])(path('/'));
  assert.deepEqual(both, { allowed: false, reason: 'a\nb' });
  assert.equal(refusal(path('/x'), both), 'User "bob" cannot get path "/x": a\nb');
});

test('a denial states whether the request was for the cluster scope or for a path', () => {
  assert.equal(
    refusal(resource({ verb: 'list' }), refused),
    'User "bob" cannot list resource "pods" in API group "" at the cluster scope',
  );
  assert.equal(refusal(path('/a"b', 'post'), refused), 'User "bob" cannot post path "/a\\"b"');
});

test('a user is a node agent only with the name of a node', () => {
  assert.equal(nodeNameOf({ name: 'system:node:', groups: ['system:nodes'] }), undefined);
  assert.equal(nodeNameOf({ name: 'x:system:node:', groups: ['system:nodes'] }), undefined);
});

describe('a joining node', () => {
  const joining = { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
  const node = { name: 'system:node:n1', groups: ['system:nodes'] };
  const requesters: Readonly<Record<string, string>> = {
    own: joining.name,
    ofNode: node.name,
    other: 'else',
  };
  const authorize = bootstrapperAuthorizer(async (name) => requesters[name]);
  const csr = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' };

  for (const [title, over, allowed] of [
    ['make a request', { verb: 'create' }, true],
    ['read its own request', { verb: 'get', name: 'own' }, true],
    ['list its own request', { verb: 'list', name: 'own' }, true],
    ['watch its own request', { verb: 'watch', name: 'own' }, true],
    ['read a missing request', { verb: 'get', name: 'gone' }, true],
    ['list a missing request', { verb: 'list', name: 'gone' }, false],
    ['watch a missing request', { verb: 'watch', name: 'gone' }, false],
    ['read another’s', { verb: 'get', name: 'other' }, false],
    ['watch another’s', { verb: 'watch', name: 'other' }, false],
    ['list all', { verb: 'list' }, false],
    ['read all', { verb: 'get' }, false],
    ['watch all', { verb: 'watch' }, false],
    ['delete its own request', { verb: 'delete', name: 'own' }, false],
    ['change its own request', { verb: 'update', name: 'own' }, false],
    ['approve its own request', { verb: 'update', name: 'own', resource: `${csr.resource}/approval` }, false],
    ['create an approved request', { verb: 'create', resource: `${csr.resource}/approval` }, false],
    ['create another kind of the group', { verb: 'create', resource: 'signers' }, false],
    ['create a kind of the same name in another group', { verb: 'create', group: 'example.com' }, false],
  ] as const)
    test(`may ${allowed ? '' : 'not '}${title}`, async () => {
      assert.equal(await authorize(resource({ ...csr, ...over, user: joining })), allowed);
    });

  test('may also be a node that renews its certificate, but no other user', async () => {
    const own = { ...csr, verb: 'get', name: 'ofNode' };
    assert.equal(await authorize(resource({ ...own, user: node })), true);
    assert.equal(await authorize(resource({ ...own, user: joining })), false);
    assert.equal(await authorize(resource({ ...csr, verb: 'create', user: bob })), false);
    assert.equal(await authorize(resource({ ...own, user: { ...bob, name: node.name } })), false);
    assert.equal(await authorize({ ...path('/x', 'create'), user: joining }), false);
  });
});
