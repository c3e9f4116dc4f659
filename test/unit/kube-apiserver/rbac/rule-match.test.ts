/** Requests that one rule of a role allows, and the limits of its wildcards. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PolicyRule } from '../../../../src/api/rbac/v1/types.gen.ts';
import { CompiledRule, resourceQuestion } from '../../../../src/kube-apiserver/rbac/rule-match.ts';

const rule = (over: Partial<PolicyRule>): CompiledRule =>
  new CompiledRule({ verbs: ['get'], apiGroups: [''], resources: ['pods'], ...over });

type Asked = readonly [resource: string, verb?: string, group?: string, name?: string];
const asks = (one: CompiledRule, [resource, verb = 'get', group = '', name = '']: Asked) =>
  one.allows(resourceQuestion(verb, group, resource, name));

const table: readonly [title: string, Partial<PolicyRule>, yes: readonly Asked[], no: readonly Asked[]][] = [
  [
    'a resource is that one, and none of its subresources',
    {},
    [['pods']],
    [['pods/log'], ['pod'], ['Pods'], ['pods/'], ['secrets'], ['pods', 'list'], ['pods', 'get', 'apps']],
  ],
  ['a subresource is that one alone', { resources: ['pods/log'] }, [['pods/log']], [['pods'], ['pods/exec']]],
  ['* is every resource and every subresource', { resources: ['*'] }, [['pods'], ['pods/log']], []],
  [
    '*/scale is that subresource of every resource',
    { resources: ['*/scale'] },
    [['deployments/scale'], ['x/scale']],
    [['deployments'], ['scale'], ['deployments/status'], ['deployments/scale/x'], ['deployments/xscale']],
  ],
  ['pods/* is no wildcard', { resources: ['pods/*'] }, [['pods/*']], [['pods'], ['pods/log']]],
  ['pod* is no wildcard', { resources: ['pod*'] }, [['pod*']], [['pods'], ['podtemplates']]],
  ['*s is no wildcard', { resources: ['*s'] }, [['*s']], [['pods'], ['s']]],
  ['*/* is no wildcard', { resources: ['*/*'] }, [], [['pods'], ['pods/log']]],
  [
    '* is every verb',
    { verbs: ['*'] },
    [
      ['pods', 'escalate'],
      ['pods', ''],
    ],
    [['secrets', 'get']],
  ],
  [
    'a verb is that one',
    { verbs: ['list'] },
    [['pods', 'list']],
    [
      ['pods', 'watch'],
      ['pods', 'get'],
      ['pods', ''],
    ],
  ],
  ['* is every group', { apiGroups: ['*'] }, [['pods', 'get', 'apps'], ['pods']], []],
  ['the group without a name is no other', { apiGroups: [''] }, [['pods']], [['pods', 'get', 'apps']]],
  ['no group is none', { apiGroups: [] }, [], [['pods'], ['pods', 'get', 'apps']]],
  ['no resource is none', { resources: [] }, [], [['pods'], ['']]],
  ['no verb is none', { verbs: [] }, [], [['pods'], ['pods', '']]],
  [
    'names are those alone, and not what has none',
    { verbs: ['*'], resourceNames: ['a', '*'] },
    [
      ['pods', 'get', '', 'a'],
      ['pods', 'get', '', '*'],
    ],
    [
      ['pods', 'get', '', 'b'],
      ['pods', 'list'],
      ['pods', 'create'],
      ['pods', 'deletecollection'],
    ],
  ],
  ['empty names are all', { resourceNames: [] }, [['pods', 'get', '', 'a'], ['pods']], []],
  [
    'a rule of paths is about no resource',
    { apiGroups: undefined, resources: undefined, nonResourceURLs: ['*'], verbs: ['*'] },
    [],
    [['pods'], ['*'], ['/x']],
  ],
];
describe('rules of resources', () => {
  for (const [title, over, yes, no] of table)
    test(title, () => {
      for (const asked of yes) assert.equal(asks(rule(over), asked), true, `${asked}`);
      for (const asked of no) assert.equal(asks(rule(over), asked), false, `${asked}`);
    });
});

const paths: readonly [urls: readonly string[], yes: readonly string[], no: readonly string[]][] = [
  [['/healthz'], ['/healthz'], ['/healthz/', '/healthz/x', '/', '']],
  [['/healthz/*'], ['/healthz/', '/healthz/x/y'], ['/healthz', '/health']],
  [['/api*'], ['/api', '/apis', '/api/v1'], ['/ap']],
  [['*'], ['', '/', '/x'], []],
  [['/a**'], ['/a', '/ab'], ['/b']],
  [['/a**x*'], ['/a**x', '/a**xy'], ['/a', '/ax']],
  // Patterns long enough for a quadratic match to be noticed.
  [[`${'*'.repeat(200_000)}x*`], [`${'*'.repeat(200_000)}xy`], ['x']],
  [['/a/*/c'], ['/a/*/c'], ['/a/b/c']],
  [[], [], ['', '/', '*']],
];
describe('rules of paths', () => {
  for (const [nonResourceURLs, yes, no] of paths)
    test(`${nonResourceURLs}`.slice(0, 40), () => {
      const one = new CompiledRule({ verbs: ['get'], nonResourceURLs: [...nonResourceURLs] });
      for (const path of yes) assert.equal(one.allows({ type: 'path', verb: 'get', path }), true, path);
      for (const path of no) assert.equal(one.allows({ type: 'path', verb: 'get', path }), false, path);
      assert.equal(one.allows({ type: 'path', verb: 'post', path: nonResourceURLs[0] ?? '' }), false);
    });

  test('a rule of resources is about no path', () =>
    assert.equal(
      rule({ verbs: ['*'], resources: ['*'], apiGroups: ['*'] }).allows({
        type: 'path',
        verb: 'get',
        path: '/',
      }),
      false,
    ));

  test('many stars within a path are not read in quadratic time', () => {
    const nonResourceURLs = [`/${'*'.repeat(400_000)}x*`];
    const one = new CompiledRule({ verbs: ['get'], nonResourceURLs });
    assert.equal(one.allows({ type: 'path', verb: 'get', path: '/x' }), false);
  });
});
