import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerHeaders, requestHeaders } from '../../../../src/cli/proxy/proxy-headers.ts';
import {
  type ProxyRequest,
  type ProxySettings,
  patternsOf,
  proxyAction,
} from '../../../../src/cli/proxy/proxy-plan.ts';

const filter = {
  acceptHosts: patternsOf('accept-hosts', '^localhost$,^\\[::1\\]$'),
  acceptPaths: patternsOf('accept-paths', '^.*'),
  rejectPaths: patternsOf('reject-paths', '^/api/.*/exec'),
  rejectMethods: patternsOf('reject-methods', '^$'),
};
const settings: ProxySettings = { apiPrefix: '/', filePrefix: '/static/', filter };
const decide = (target: string, more: Partial<ProxyRequest> = {}, of = settings) =>
  proxyAction({ method: 'GET', target, hosts: ['localhost:8001'], origin: undefined, ...more }, of);
const forward = (path: string) => ({ kind: 'forward', path });
const statusOf = (...args: Parameters<typeof decide>) => {
  const action = decide(...args);
  return action.kind === 'refuse' ? action.status : action.kind;
};

test('a path is forwarded with its query, and each part of it stays one part', () => {
  assert.deepEqual(decide('/api/v1/pods?watch=1&a=%2F'), forward('/api/v1/pods?watch=1&a=%2F'));
  assert.deepEqual(decide('/a%2Fb/https:c:d@e/ü%20\\'), forward('/a%2Fb/https:c:d@e/%C3%BC%20%5C'));
});

test('a path that encodes a rejected one is rejected', () => {
  for (const path of ['/api/x/exec', '/api/x/%65xec', '/api/x%2Fexec', '/api/x/exec/'])
    assert.equal(statusOf(path), 403, path);
  assert.equal(statusOf('/api/x/%2565xec'), 'forward');
});

test('an unclean path is redirected on this host', () => {
  for (const [path, location] of [
    ['//evil.example/x', '/evil.example/x'],
    ['/a/../../b/', '/b/'],
    ['/a/%2e%2e/b?c', '/b?c'],
    ['/static', '/static/'],
  ] as const)
    assert.deepEqual(decide(path), { kind: 'redirect', location });
});

test('an IPv6 host is accepted with a port, and by patterns with and without brackets', () => {
  assert.equal(statusOf('/', { hosts: ['[::1]:8001'] }), 'forward');
  const acceptHosts = patternsOf('accept-hosts', '^::1$');
  const plain = { ...settings, filter: { ...filter, acceptHosts } };
  assert.equal(statusOf('/', { hosts: ['[::1]'] }, plain), 'forward');
});

test('a request is rejected if its host, its origin or the host of its URL is not that of the proxy', () => {
  for (const hosts of [['evil.example'], ['localhost.evil.example'], ['localhost:x'], ['']])
    assert.equal(statusOf('/', { hosts }), 403, hosts.join());
  for (const hosts of [[], ['localhost', 'localhost']]) assert.equal(statusOf('/', { hosts }), 400);
  assert.equal(statusOf('http://evil.example/'), 403);
  assert.equal(statusOf('http://localhost:1/x', { hosts: ['evil.example'] }), 'forward');
  for (const origin of ['null', 'https://evil.example', 'localhost.x'])
    assert.equal(statusOf('/', { origin }), 403, origin);
  assert.equal(statusOf('/', { origin: 'https://localhost' }), 'forward');
});

test('without a filter every host and path is forwarded', () => {
  const open = { ...settings, filter: undefined };
  assert.equal(statusOf('/api/x/exec', { hosts: ['evil.example'], origin: 'null' }, open), 'forward');
});

test('a prefix of the API is cut off unless it begins with /api', () => {
  const at = (apiPrefix: string, path: string) => decide(path, {}, { ...settings, apiPrefix });
  assert.deepEqual(at('/my/api/', '/my/api/version'), forward('/version'));
  assert.deepEqual(at('/my/', '/my/'), forward('/'));
  assert.deepEqual(at('/api/', '/api/v1'), forward('/api/v1'));
  assert.deepEqual(at('/api/', '/version'), { kind: 'refuse', status: 404, text: '404 page not found' });
});

test('an expression that RE2 cannot read is an error that names the flag', () => {
  for (const text of ['(', 'a,(?=b)'])
    assert.throws(() => patternsOf('accept-paths', text), {
      name: 'UsageError',
      message: /^--accept-paths: /,
    });
  assert.deepEqual(patternsOf('accept-paths', ''), []);
});

test('connection headers, and the headers that Connection lists, are not passed on', () => {
  const raw = [
    'Connection',
    'close, X-Mine',
    'X-Mine',
    '1',
    'TE',
    'trailers',
    'A',
    '1',
    'a',
    '2',
    'Host',
    'h',
  ];
  const forwarded = { 'x-forwarded-for': '127.0.0.1' };
  assert.deepEqual(
    { ...requestHeaders(raw, { a: 'own', b: 'own' }) },
    { a: ['1', '2'], b: 'own', ...forwarded },
  );
  assert.deepEqual(answerHeaders(['Upgrade', 'x', 'Set-Cookie', 'a', 'Set-Cookie', 'b', '__proto__', 'c']), [
    ...['set-cookie', 'a', 'set-cookie', 'b'],
    ...['__proto__', 'c'],
  ]);
});
