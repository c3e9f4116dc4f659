/** Generator of requests, each made from its number and the current objects of the server. */
import type { SeededRandom } from '../fixtures/seeded-random.ts';
import { breakBytes, breakOnce, breakText, jsonOf } from './break.ts';
import { collectionOf, type Resource, type Routes, seedName, seedOf } from './routes.ts';
import { pick, setField } from './schema.ts';

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Milliseconds after which the client leaves, for a request without an end. */
  readonly leaveAfterMs?: number;
  /** Path of the object that the request writes as a whole, if any. */
  readonly object?: string;
}

/** Reads an object of the server; resolves to undefined if it does not exist. */
export type Read = (path: string, accept: string) => Promise<Uint8Array | undefined>;

const json = 'application/json';
const protobuf = 'application/vnd.kubernetes.protobuf';

const accepts = [
  ...[
    '*/*',
    json,
    json,
    json,
    'application/yaml',
    protobuf,
    'text/plain',
    'text/html',
    'application/xml',
    '',
    ',',
  ],
  ...['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList', 'Nothing'].flatMap((as) =>
    [json, protobuf].flatMap((type) => ['v1', 'v1beta1'].map((v) => `${type};as=${as};v=${v};g=meta.k8s.io`)),
  ),
  `${protobuf};as=Table;v=v1;g=meta.k8s.io, ${json}`,
  `${json};q=0.1, application/yaml;q=0.9`,
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
];

const patchTypes = ['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml'];

const selectors = [
  'a=b',
  'a',
  '!a',
  'a in (b,c)',
  'a notin (b)',
  '((',
  'a=',
  '=',
  ',',
  'a==b,c!=d',
  '\0',
  'x'.repeat(5000),
];
const fields = [
  'metadata.name=web',
  'metadata.namespace!=a',
  'status.phase=Running',
  'spec.nodeName=',
  'a=b',
  '=',
  'type=x,',
];
const numbers = ['0', '1', '-1', 'x', '', '1e9', '99999999999999999999', '9223372036854775807', '1.5', '٣'];
const parameters: Readonly<Record<string, readonly string[]>> = {
  labelSelector: selectors,
  fieldSelector: [...fields, ...['regarding.kind=Pod', 'involvedObject.kind=Pod', 'spec.unschedulable=true']],
  limit: numbers,
  continue: ['e30', 'x', '', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0', 'x'.repeat(3000)],
  resourceVersion: numbers,
  resourceVersionMatch: ['Exact', 'NotOlderThan', 'x', ''],
  timeoutSeconds: ['0', '1', '-1', 'x'],
  timeout: ['1s', '0', 'x', '1h', '-1s'],
  watch: ['true', '1', '0', 'x', ''],
  allowWatchBookmarks: ['true', 'x'],
  sendInitialEvents: ['true', 'false', 'x'],
  dryRun: ['All', 'x', '', 'All,All'],
  fieldManager: ['a', '', '\0', 'x'.repeat(200)],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'x'],
  force: ['true', 'x'],
  gracePeriodSeconds: numbers,
  propagationPolicy: ['Orphan', 'Foreground', 'Background', 'x'],
  orphanDependents: ['true', 'x'],
  includeObject: ['None', 'Object', 'Metadata', 'x'],
  pretty: ['1', 'true', 'x'],
  container: ['c', 'x', ''],
  follow: ['true', 'x'],
  tailLines: numbers,
  limitBytes: numbers,
  sinceSeconds: numbers,
  sinceTime: ['2026-01-01T00:00:00Z', 'x'],
  previous: ['true'],
  command: ['sh', ''],
  stdin: ['true'],
  stdout: ['true', 'x'],
  ports: ['80', '0', 'x', '99999'],
  path: ['/', '../x', '//', '%'],
  ['__proto__']: ['a'],
  constructor: ['a'],
};
const parameterNames = Object.keys(parameters);

function queryOf(random: SeededRandom, first: readonly string[] = []): string {
  const parts = [...first];
  while (random.next() < 0.35) {
    const name = pick(random, parameterNames);
    const value =
      random.next() < 0.1 ? pick(random, ['%', '%zz', '%00', '%ff', '+', '&&', '=', '%F0%9F']) : undefined;
    parts.push(
      `${encodeURIComponent(name)}=${value ?? encodeURIComponent(pick(random, parameters[name] ?? ['']))}`,
    );
  }
  if (random.next() < 0.005)
    parts.push(...Array.from({ length: pick(random, [50, 500]) }, () => 'labelSelector=a'));
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

const goodMethods = [
  'GET',
  'GET',
  'POST',
  'POST',
  'POST',
  'PUT',
  'PUT',
  'PUT',
  'PATCH',
  'PATCH',
  'PATCH',
  'DELETE',
];
const oddMethods = ['HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE'];
const oddNames = [
  'a',
  'sys%3Aa',
  '%00',
  'a%2Fb',
  '..%2f',
  '%2e%2e',
  '%E0%A4',
  '%F0%9F%90%9B',
  'x'.repeat(300),
  '%20',
  ':',
];
const places = ['', 'gone', 'web', '%00', 'kube-system', 'default%2f'];
const wrongSubresources = ['nope', 'status', 'scale', 'status/more', 'proxy/a/b', '..', '%2e%2e'];

/** Share of requests for all objects of a kind, by method. */
const ofAll: Readonly<Record<string, number>> = { GET: 0.4, POST: 0.9, DELETE: 0.04, PUT: 0.02, PATCH: 0.02 };

export async function requestOf(routes: Routes, random: SeededRandom, read: Read): Promise<FuzzRequest> {
  if (random.next() < 0.03) return otherRequest(routes, random);
  const resource = pick(random, routes.resources);
  const method = random.next() < 0.02 ? pick(random, oddMethods) : pick(random, goodMethods);
  const all = random.next() < (ofAll[method] ?? 0.2);
  const collection = collectionOf(resource, random.next() < 0.85 ? 'default' : pick(random, places));
  const at = all ? collection : `${collection}/${random.next() < 0.92 ? seedName : pick(random, oddNames)}`;
  const sub = all || random.next() < 0.6 ? '' : subresourceOf(resource, random);
  const watched = all && method === 'GET' && random.next() < 0.25;
  const path = `${at}${sub}${queryOf(random, watched ? ['watch=true'] : [])}`;
  const accept = random.next() < 0.75 ? json : pick(random, accepts);
  const leave = /[?&](watch|follow)=(?!0|false)|[?&]sendInitialEvents=/.test(path) && method === 'GET';
  const meant = { method, path: `${collection}/${seedName}`, sub };
  const { type, body } = await bodyOf(routes, resource, meant, random, read);
  return {
    ...{ method, path },
    headers: { accept, ...(type !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { body }),
    ...(leave && { leaveAfterMs: random.next() < 0.02 ? 1500 : random.below(40) }),
    ...(!all && sub === '' && (method === 'PUT' || method === 'PATCH') && { object: at }),
  };
}

function otherRequest(routes: Routes, random: SeededRandom): FuzzRequest {
  const end = random.next() < 0.3 ? pick(random, ['/', '//', '/x', '%2f']) : '';
  const path = `${pick(random, routes.others)}${end}`;
  const method = random.next() < 0.7 ? 'GET' : pick(random, [...goodMethods, ...oddMethods]);
  const query = path.includes('?') ? '' : queryOf(random);
  return { method, path: `${path}${query}`, headers: { accept: pick(random, accepts) } };
}

function subresourceOf({ subresources }: Resource, random: SeededRandom): string {
  if (subresources.length === 0) return random.next() < 0.8 ? '' : `/${pick(random, wrongSubresources)}`;
  return `/${random.next() < 0.9 ? pick(random, subresources) : pick(random, wrongSubresources)}`;
}

interface Body {
  readonly type?: string;
  readonly body?: string | Uint8Array;
}

interface Meant {
  readonly method: string;
  /** Path of the existing object. */
  readonly path: string;
  readonly sub: string;
}

async function bodyOf(
  routes: Routes,
  resource: Resource,
  meant: Meant,
  random: SeededRandom,
  read: Read,
): Promise<Body> {
  const { method, path } = meant;
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'TRACE') return {};
  const wrongType = random.next() < 0.02;
  const odd =
    wrongType &&
    pick(random, ['text/plain', '', 'application/x', `${json}; charset=latin1`, 'a;b;c', protobuf]);
  if (method === 'DELETE') {
    if (random.next() < 0.6) return {};
    const options = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: 'x' },
      dryRun: ['All'],
      gracePeriodSeconds: 1,
    };
    return { type: odd || json, body: broken(jsonOf(damage(options, random)), random) };
  }
  if ((method === 'PUT' || method === 'POST') && random.next() < 0.08) {
    const bytes = await read(path, protobuf);
    if (bytes && bytes.length > 0) return { type: odd || protobuf, body: breakBytes(bytes, random) };
  }
  const object = await objectOf(routes, resource, meant, random, read);
  if (method === 'PATCH') return patchOf(object, odd, random);
  const text = broken(jsonOf(object), random);
  return { type: odd || (random.next() < 0.015 ? 'application/yaml' : json), body: text };
}

async function objectOf(
  routes: Routes,
  resource: Resource,
  meant: Meant,
  random: SeededRandom,
  read: Read,
): Promise<unknown> {
  const { method, path, sub } = meant;
  if (sub !== '' && sub !== '/status' && random.next() < 0.6)
    return damage(forSubresource(resource, random), random);
  const current = method === 'PUT' && random.next() < 0.7 ? await read(path, json) : undefined;
  const object = current ? (JSON.parse(Buffer.from(current).toString()) as object) : seedOf(resource);
  const metadata = (object as { metadata: { name: string } }).metadata;
  if (random.next() < 0.3) metadata.name = pick(random, ['b', `n${random.below(40)}`, 'sys:a', '', seedName]);
  for (let times = random.below(3); times > 0; times--)
    setField(routes.schemas, resource.schema, object ?? {}, random);
  return damage(object, random);
}

const forSubresource = ({ kind }: Resource, random: SeededRandom) => ({
  kind: pick(random, ['Scale', 'Binding', 'Eviction', 'Namespace', 'TokenRequest', kind]),
  apiVersion: pick(random, ['v1', 'autoscaling/v1', 'policy/v1', 'authentication.k8s.io/v1']),
  metadata: { name: seedName, namespace: 'default' },
  target: { kind: 'Node', name: pick(random, ['web', 'n', '']) },
  spec: { replicas: random.below(5), finalizers: ['kubernetes'] },
  deleteOptions: { gracePeriodSeconds: 0 },
});

function damage(value: unknown, random: SeededRandom): unknown {
  let damaged = value;
  for (let times = pick(random, [0, 0, 1, 1, 2, 3]); times > 0; times--) damaged = breakOnce(damaged, random);
  return damaged;
}

const broken = (text: string, random: SeededRandom) =>
  random.next() < 0.06 ? breakText(text, random) : text;

function patchOf(object: unknown, odd: string | false, random: SeededRandom): Body {
  const kind = pick(random, patchTypes);
  const type = odd || `application/${kind}`;
  if (kind !== 'json-patch+json') {
    if (random.next() < 0.6 && typeof object === 'object' && object !== null)
      delete (object as { metadata?: unknown }).metadata;
    return { type, body: broken(jsonOf(object), random) };
  }
  const pointers = pointersOf(object);
  const operations = Array.from({ length: 1 + random.below(random.next() < 0.02 ? 3000 : 3) }, () => ({
    op: pick(random, ['add', 'remove', 'replace', 'test', 'move', 'copy', 'nothing']),
    path: pick(random, [
      ...pointers,
      '',
      '/',
      '/-',
      '/metadata/labels/a~1b',
      '/metadata/~2',
      '/spec/0',
      '/__proto__/a',
    ]),
    from: pick(random, [...pointers, '', '/spec']),
    value: breakOnce({ a: 1 }, random),
  }));
  return { type, body: broken(jsonOf(damage(operations, random)), random) };
}

function pointersOf(value: unknown, at = '', out: string[] = []): string[] {
  if (typeof value !== 'object' || value === null || out.length > 300) return out;
  for (const [key, inner] of Object.entries(value)) {
    const pointer = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    out.push(pointer);
    pointersOf(inner, pointer, out);
  }
  return out;
}
