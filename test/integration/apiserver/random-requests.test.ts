/** Random requests: the answer reports an error of the request and never of the server. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startTestServer } from '../../fixtures/api-server.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const segments = [
  'api',
  'apis',
  'v1',
  'apps',
  'namespaces',
  'default',
  'pods',
  'services',
  'deployments',
  'configmaps',
  'nodes',
  'a',
  'web',
  'status',
  'scale',
  'binding',
  'eviction',
  'log',
  'finalize',
  '',
  '%2F',
  '__proto__',
  'openapi',
  'v3',
  '..',
  '*',
];
const queries = [
  'watch=0',
  'limit=1',
  'limit=x',
  'continue=e30',
  'resourceVersion=0',
  'resourceVersion=-1',
  'dryRun=All',
  'dryRun=x',
  'labelSelector=a%3Db',
  'labelSelector=((',
  'fieldSelector=metadata.name%3Da',
  'fieldSelector=%2C',
  'fieldValidation=Strict',
  'propagationPolicy=Orphan',
  'gracePeriodSeconds=-5',
  'includeObject=None',
  'resourceVersionMatch=Exact',
  'pretty',
];
const types = [
  'application/json',
  'application/yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/vnd.kubernetes.protobuf',
  '',
  'x/y; z',
];
const values: unknown[] = [
  null,
  0,
  -1,
  1e300,
  '',
  'a',
  '\0',
  [],
  {},
  [null],
  { a: null },
  [[]],
  true,
  { name: 'a' },
  { name: 'web', finalizers: ['x/y'] },
  { $patch: 'delete' },
  [{ op: 'add', path: '/metadata', value: 1 }],
  [{ op: 'remove', path: '/spec' }],
  { containers: [{ name: 'c' }] },
  { $setElementOrder: 1 },
  { replicas: 3, selector: { matchLabels: { a: 'b' } } },
  { type: 'NodePort', ports: [{ port: 80 }] },
];
const keys = [
  'metadata',
  'spec',
  'status',
  'data',
  'kind',
  'apiVersion',
  'target',
  'deleteOptions',
  '__proto__',
  '$patch',
];

it('random requests are answered without an internal error of the server', async () => {
  const log = new RecordingLogger();
  const server = await startTestServer({ log });
  const random = new SeededRandom(20);
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)] as T;
  const path = () => {
    const prefix = pick(['/api/v1/namespaces/default', '/apis/apps/v1/namespaces/default', '/api/v1', '']);
    const rest = Array.from({ length: random.below(5) }, () => pick(segments)).join('/');
    const query = Array.from({ length: random.below(3) }, () => pick(queries)).join('&');
    return `${prefix}/${rest}?${query}`;
  };
  const body = () => {
    if (random.next() < 0.1) return pick(['{', '[', 'a: [', '\u0000', '"x"', '{"a":1,"a":2}']);
    if (random.next() < 0.2) return JSON.stringify(pick(values));
    return JSON.stringify(Object.fromEntries(Array.from({ length: 3 }, () => [pick(keys), pick(values)])));
  };
  const seen = new Set<number>();
  for (let i = 0; i < 4000; i++) {
    const method = pick(methods);
    const url = path();
    const headers = {
      'content-type': pick(types),
      accept: pick(['*/*', 'application/json', 'application/json;as=Table;v=v1;g=meta.k8s.io', 'x']),
    };
    const sent = method === 'GET' || method === 'HEAD' ? undefined : body();
    const answer = await server.call(method, url, sent, { headers });
    seen.add(answer.status);
    assert.ok(answer.status < 500, `${method} ${url} ${headers['content-type']} ${sent}: ${answer.text}`);
  }
  assert.deepEqual(
    log.lines.filter(({ level }) => level === 'error'),
    [],
  );
  await server.stop();
});
