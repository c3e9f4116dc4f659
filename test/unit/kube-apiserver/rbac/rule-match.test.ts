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
    'a resource matches itself, and no subresource',
    {},
    [['pods']],
    [['pods/log'], ['pod'], ['Pods'], ['pods/'], ['secrets'], ['pods', 'list'], ['pods', 'get', 'apps']],
  ],
  [
    'a subresource matches itself alone',
    { resources: ['pods/log'] },
    [['pods/log']],
    [['pods'], ['pods/exec']],
  ],
  ['* matches every resource and every subresource', { resources: ['*'] }, [['pods'], ['pods/log']], []],
  [
    '*/scale matches the subresource scale of every resource',
    { resources: ['*/scale'] },
    [['deployments/scale'], ['x/scale']],
    [['deployments'], ['scale'], ['deployments/status'], ['deployments/scale/x'], ['deployments/xscale']],
  ],
  ['pods/* is no wildcard', { resources: ['pods/*'] }, [['pods/*']], [['pods'], ['pods/log']]],
  ['pod* is no wildcard', { resources: ['pod*'] }, [['pod*']], [['pods'], ['podtemplates']]],
  ['*s is no wildcard', { resources: ['*s'] }, [['*s']], [['pods'], ['s']]],
  ['*/* is no wildcard', { resources: ['*/*'] }, [], [['pods'], ['pods/log']]],
  [
    '* matches every verb',
    { verbs: ['*'] },
    [
      ['pods', 'escalate'],
      ['pods', ''],
    ],
    [['secrets', 'get']],
  ],
  [
    'a verb matches itself alone',
    { verbs: ['list'] },
    [['pods', 'list']],
    [
      ['pods', 'watch'],
      ['pods', 'get'],
      ['pods', ''],
    ],
  ],
  ['* matches every group', { apiGroups: ['*'] }, [['pods', 'get', 'apps'], ['pods']], []],
  ['the empty group matches itself alone', { apiGroups: [''] }, [['pods']], [['pods', 'get', 'apps']]],
  ['no groups match nothing', { apiGroups: [] }, [], [['pods'], ['pods', 'get', 'apps']]],
  ['no resources match nothing', { resources: [] }, [], [['pods'], ['']]],
  ['no verbs match nothing', { verbs: [] }, [], [['pods'], ['pods', '']]],
  [
    'names match themselves alone, and no request without a name',
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
  [
    'an empty list of names matches all names',
    { resourceNames: [] },
    [['pods', 'get', '', 'a'], ['pods']],
    [],
  ],
  [
    'a rule of paths matches no resource',
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

  test('a rule of resources matches no path', () =>
    assert.equal(
      rule({ verbs: ['*'], resources: ['*'], apiGroups: ['*'] }).allows({
        type: 'path',
        verb: 'get',
        path: '/',
      }),
      false,
    ));

  test('many stars within a path are matched in linear time', () => {
    const nonResourceURLs = [`/${'*'.repeat(400_000)}x*`];
    const one = new CompiledRule({ verbs: ['get'], nonResourceURLs });
    assert.equal(one.allows({ type: 'path', verb: 'get', path: '/x' }), false);
  });
});
