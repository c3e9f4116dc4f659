/** Files of a volume from the API, and their owners. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '../../../../../src/api/core/v1/config-map.ts';
import type { Secret } from '../../../../../src/api/core/v1/secret.ts';
import {
  isSecret,
  projectedFiles,
  projectionOf,
  shownOfPod,
  tokensOf,
  trustBundlesOf,
} from '../../../../../src/kubelet/volumes/plan/projection.ts';
import { renewalOf } from '../../../../../src/kubelet/volumes/plan/token-life.ts';
import { makePod } from '../../builders.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const configMap = {
  data: { a: 'plain', b: 'two' },
  binaryData: { raw: Buffer.from([0, 255]).toString('base64') },
};
const secret = { data: { key: base64('hidden') } };

/** Returns the content and mode of each path, the mode in octal, with the owner if there is one. */
function filesOf(volume: object, spec: object = {}, metadata: object = {}) {
  const pod = makePod({ volumes: [{ name: 'v', ...volume }], ...spec }, metadata);
  const source = projectionOf(pod.spec.volumes?.[0] as never);
  assert.ok(source);
  const given = {
    configMaps: new Map([['c', configMap as unknown as ConfigMap]]),
    secrets: new Map([['s', secret as unknown as Secret]]),
    tokens: new Map(tokensOf(source).map((token) => [token, `token for ${token.audience ?? 'the API'}`])),
    allocatable: { memory: '8Gi' },
    certificates: new Map(
      (source.sources ?? []).flatMap(({ podCertificate }) =>
        podCertificate ? [[podCertificate, { key: 'key ', chain: 'chain' }] as const] : [],
      ),
    ),
    trustAnchors: new Map(
      trustBundlesOf(source).flatMap((one) => (one.name === 'known' ? [[one, 'anchors'] as const] : [])),
    ),
  };
  return Object.fromEntries(
    projectedFiles(pod, source, given).map(({ path, content, mode, owner }) => [
      path,
      [Buffer.from(content).toString('latin1'), mode.toString(8), ...(owner === undefined ? [] : [owner])],
    ]),
  );
}

const projected = (...sources: object[]) => ({ projected: { sources } });
const token = { serviceAccountToken: { path: 'token' } };

test('a volume has all keys of a ConfigMap or Secret, or the selected ones', () => {
  assert.deepEqual(filesOf({ configMap: { name: 'c' } }), {
    a: ['plain', '644'],
    b: ['two', '644'],
    raw: ['\u0000\u00ff', '644'],
  });
  const items = [{ key: 'a', path: 'deep/er', mode: 0o400 }];
  assert.deepEqual(filesOf({ configMap: { name: 'c', items, defaultMode: 0o600 } }), {
    'deep/er': ['plain', '400'],
  });
  assert.deepEqual(filesOf({ projected: {} }), {});
  assert.deepEqual(filesOf({ secret: { secretName: 's', defaultMode: 0o440 } }), { key: ['hidden', '440'] });
});

test('a certificate of the pod has its key and its chain in one file or in two', () => {
  const paths = { credentialBundlePath: 'both', keyPath: 'key', certificateChainPath: 'tls/chain' };
  const contents = { both: 'key chain', key: 'key ', 'tls/chain': 'chain' };
  const certificate = projected({ podCertificate: { signerName: 'a.b/c', keyType: 'ED25519', ...paths } });
  const as = (...attributes: unknown[]) =>
    Object.fromEntries(Object.entries(contents).map(([path, content]) => [path, [content, ...attributes]]));
  assert.deepEqual(filesOf(certificate), as('644'));
  assert.deepEqual(filesOf(certificate, { securityContext: { fsGroup: 5 } }), as('600'));
  assert.deepEqual(filesOf(certificate, { securityContext: { runAsUser: 7 } }), as('600', 7));
  assert.equal(isSecret(certificate.projected), true);
});

test('a file of trust bundles has their certificates, and is empty if an optional source selects none', () => {
  const bundle = (source: object) => projected({ clusterTrustBundle: { path: 'ca', ...source } });
  assert.deepEqual(filesOf(bundle({ name: 'known' })), { ca: ['anchors', '644'] });
  assert.deepEqual(filesOf(bundle({ name: 'other', optional: true })), { ca: ['', '644'] });
  assert.throws(
    () => filesOf(bundle({ name: 'other' })),
    /while getting ClusterTrustBundle: clustertrustbundle\.certificates\.k8s\.io "other" not found$/,
  );
  assert.throws(
    () => filesOf(bundle({ signerName: 'a.b/c', optional: false })),
    /matched zero ClusterTrustBundles/,
  );
  const user = { securityContext: { runAsUser: 7 } };
  assert.deepEqual(filesOf(bundle({ name: 'known' }), user), { ca: ['anchors', '600', 7] });
});

test('a missing object or key is an error unless it is optional', () => {
  const missing = (volume: object) => () => filesOf(volume);
  assert.throws(missing({ configMap: { name: 'x' } }), {
    name: 'VolumeError',
    message: 'configmap "x" not found',
  });
  assert.throws(missing({ secret: { secretName: 'x' } }), { message: 'secret "x" not found' });
  const items = [{ key: 'x', path: 'p' }];
  assert.throws(missing({ configMap: { name: 'c', items } }), {
    message: 'configmap references non-existent config key: x',
  });
  assert.throws(missing({ secret: { secretName: 's', items } }), {
    message: 'references non-existent secret key: x',
  });
  const [first, second] = [{ configMap: { name: 'x' } }, { secret: { name: 'y' } }];
  assert.throws(missing(projected(first, { configMap: { name: 'c' } }, second)), {
    message: '[configmap "x" not found, secret "y" not found]',
  });
  const unknown = { items: [{ path: 'p', fieldRef: { fieldPath: 'spec.nothing' } }] };
  assert.throws(missing({ downwardAPI: unknown }), { name: 'VolumeError', message: /spec\.nothing/ });
  const stranger = { containerName: 'stranger', resource: 'limits.memory' };
  assert.throws(missing({ downwardAPI: { items: [{ path: 'p', resourceFieldRef: stranger }] } }), {
    name: 'VolumeError',
    message: /stranger/,
  });
  const optional = true;
  assert.deepEqual(filesOf({ configMap: { name: 'x', optional } }), {});
  assert.deepEqual(filesOf({ configMap: { name: 'c', optional, items } }), {});
});

test('a downward API volume has fields and resources of the pod', () => {
  const labels = { b: '2', a: 'with "quotes"' };
  const field = (path: string, fieldPath: string) => ({ path, fieldRef: { fieldPath } });
  const items = [
    field('name', 'metadata.name'),
    field('labels', 'metadata.labels'),
    field('b', "metadata.labels['b']"),
    field('none', 'metadata.annotations'),
    {
      path: 'memory',
      resourceFieldRef: { containerName: 'main', resource: 'limits.memory', divisor: '1Mi' },
    },
  ];
  assert.deepEqual(filesOf({ downwardAPI: { items } }, {}, { labels }), {
    name: ['web', '644'],
    labels: ['a="with \\"quotes\\""\nb="2"', '644'],
    b: ['2', '644'],
    none: ['', '644'],
    memory: ['8192', '644'],
  });
});

test('a volume of several sources has the files of all, and the last one takes precedence', () => {
  const first = { configMap: { name: 'c', items: [{ key: 'a', path: 'x' }] } };
  const second = { secret: { name: 's', items: [{ key: 'key', path: 'x' }] } };
  assert.deepEqual(filesOf(projected(first, second, token)), {
    x: ['hidden', '644'],
    token: ['token for the API', '644'],
  });
});

test('the file of a token belongs to the user of the containers if all have the same one', () => {
  const [pod, one, other] = [{ runAsUser: 1000 }, { runAsUser: 7 }, { runAsUser: 8 }];
  const container = (name: string, securityContext?: object) => ({
    name,
    image: 'i',
    ...(securityContext && { securityContext }),
  });
  const of = (spec: object) => filesOf(projected(token), spec).token?.slice(1);
  assert.deepEqual(of({}), ['644']);
  assert.deepEqual(of({ securityContext: pod }), ['600', 1000]);
  assert.deepEqual(of({ securityContext: { fsGroup: 5 } }), ['600']);
  assert.deepEqual(of({ containers: [container('a', one), container('b', one)] }), ['600', 7]);
  assert.deepEqual(of({ containers: [container('a', one), container('b', other)] }), ['644']);
  assert.deepEqual(of({ containers: [container('a', one), container('b')] }), ['644']);
  assert.deepEqual(of({ containers: [container('a', one), container('b')], securityContext: one }), [
    '600',
    7,
  ]);
  assert.deepEqual(
    of({ initContainers: [container('i', other)], containers: [container('a', one)] }),
    ['644'],
    'init containers count as well',
  );
});

test('a path that leads out of the volume is refused', () => {
  for (const path of ['', '/etc/x', '..', '../x', 'a/../../x', '..data', '..data/x'])
    for (const source of [
      { configMap: { name: 'c', items: [{ key: 'a', path }] } },
      { serviceAccountToken: { path } },
      { downwardAPI: { items: [{ path, fieldRef: { fieldPath: 'metadata.name' } }] } },
    ])
      assert.throws(() => filesOf(projected(source)), { name: 'VolumeError' }, path);
});

test('volumes with Secrets or tokens are secret, others are not', () => {
  const of = (volume: object) => isSecret(projectionOf({ name: 'v', ...volume }) ?? {});
  assert.equal(of({ configMap: { name: 'c' } }), false);
  assert.equal(of({ downwardAPI: { items: [] } }), false);
  assert.equal(of({ secret: { secretName: 's' } }), true);
  assert.equal(of(projected({ configMap: { name: 'c' } }, token)), true);
  assert.equal(projectionOf({ name: 'v', emptyDir: {} }), undefined);
});

test('a token is replaced when a fifth of its lifetime is left, and after a day at the latest', () => {
  const minute = 60_000;
  const now = Date.UTC(2026, 0, 1);
  const due = (lifeMs: number, draw = 0) => (renewalOf(now + lifeMs, lifeMs, draw) - now) / minute;
  assert.equal(due(60 * minute), 48);
  assert.equal(due(10 * minute), 8);
  assert.equal(due(30 * 24 * 60 * minute), 24 * 60);
  assert.equal(due(60 * minute, 0.5), 48 - 5 / 60);
  assert.ok(due(60 * minute, 0.999) > 47.8 && due(60 * minute, 0.999) < 48);
});

test('a value that many files share is stored in memory once', () => {
  const large = 2 ** 20;
  const pod = makePod({}, { annotations: { note: 'x'.repeat(200_000) } });
  const sources = Array.from({ length: 20_000 }, (_, at) => [
    { configMap: { name: 'c', items: [{ key: 'k', path: `c${at}` }] } },
    { secret: { name: 's', items: [{ key: 'k', path: `s${at}` }] } },
    {
      downwardAPI: {
        items: [
          { path: `f${at}`, fieldRef: { apiVersion: 'v1', fieldPath: "metadata.annotations['note']" } },
        ],
      },
    },
  ]).flat();
  const given = {
    configMaps: new Map([['c', { data: { k: 'x'.repeat(large) } } as unknown as ConfigMap]]),
    secrets: new Map([['s', { data: { k: base64('x'.repeat(large)) } } as unknown as Secret]]),
    tokens: new Map(),
    allocatable: {},
    trustAnchors: new Map(),
    certificates: new Map(),
  };
  const files = projectedFiles(pod, { sources }, given);
  assert.equal(files.length, 60_000);
  assert.equal(new Set(files.map(({ content }) => content)).size, 3);
  assert.ok(shownOfPod(pod, { sources }, {}).length < 300_000);
});
