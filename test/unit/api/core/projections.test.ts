/** Files that a volume from the API may have, and fields of the pod that these files may hold. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Volume } from '../../../../src/api/core/v1/types.gen.ts';
import { validateProjections } from '../../../../src/api/core/v1/volume/projection-validation.ts';

const told = (volume: object) =>
  validateProjections({ name: 'v', ...volume } as Volume, 'v').map(
    ({ field, message }) => `${field}: ${message}`,
  );
const item = (path: string, more: object = {}) => ({ key: 'k', path, ...more });
const name = { path: 'name', fieldRef: { fieldPath: 'metadata.name' } };
const cpu = { containerName: 'c', resource: 'limits.cpu' };
const token = (more: object = {}) => ({ serviceAccountToken: { path: 'token', ...more } });
const certificate = (more: object = {}) => ({
  podCertificate: { signerName: 'a.b/c', keyType: 'ED25519', keyPath: 'key', ...more },
});
const trust = (bundle: object) => ({ clusterTrustBundle: { path: 'ca', ...bundle } });
const projected = (...sources: object[]) => ({ projected: { sources } });
const s0 = 'v.projected.sources[0]';
const modes = 'must be a number between 0 and 0777 (octal), both inclusive';

describe('a volume', () => {
  const table: [what: string, volume: object, expected: string[]][] = [
    [
      'of a Secret',
      { secret: { secretName: 's', defaultMode: 0, items: [item('a/b', { mode: 0o777 })] } },
      [],
    ],
    ['of a ConfigMap', { configMap: { name: 'c', defaultMode: 0o777 } }, []],
    ['of the pod', { downwardAPI: { items: [name, { path: 'cpu', resourceFieldRef: cpu }] } }, []],
    ['without sources', { projected: {} }, []],
    [
      'of several',
      projected(
        { secret: { name: 's', items: [item('a')] } },
        { configMap: { name: 'c', items: [item('b')] } },
        { downwardAPI: { items: [name] } },
        token(),
      ),
      [],
    ],
    [
      'of a Secret without a name and with invalid modes',
      { secret: { defaultMode: 0o1000, items: [item('a', { mode: -1 })] } },
      [
        'v.secret.secretName: Required value',
        `v.secret.defaultMode: Invalid value: 512: ${modes}`,
        `v.secret.items[0].mode: Invalid value: -1: ${modes}`,
      ],
    ],
    [
      'of a ConfigMap without a name and with invalid modes',
      { configMap: { name: '', defaultMode: -1, items: [item('a', { key: '' }), item('')] } },
      [
        'v.configMap.name: Required value',
        `v.configMap.defaultMode: Invalid value: -1: ${modes}`,
        'v.configMap.items[0].key: Required value',
        'v.configMap.items[1].path: Required value',
      ],
    ],
    [
      'of the pod with invalid modes and without a path',
      { downwardAPI: { defaultMode: -1, items: [{ ...name, path: '', mode: -1 }] } },
      [
        `v.downwardAPI.defaultMode: Invalid value: -1: ${modes}`,
        'v.downwardAPI.path: Required value',
        `v.downwardAPI.mode: Invalid value: -1: ${modes}`,
      ],
    ],
    [
      'of the pod without a field, and with a field and a resource',
      { downwardAPI: { items: [{ path: 'a' }, { ...name, resourceFieldRef: cpu }] } },
      [
        'v.downwardAPI: Required value: one of fieldRef and resourceFieldRef is required',
        'v.downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously',
      ],
    ],
    [
      'of resources without a container, or invalid ones',
      {
        downwardAPI: {
          items: [{}, { resource: '' }, { resource: 'limits.pods' }, { divisor: '3' }].map((more) => ({
            path: 'a',
            resourceFieldRef: {
              ...cpu,
              ...(Object.keys(more).length === 0 && { containerName: '' }),
              ...more,
            },
          })),
        },
      },
      [
        'v.downwardAPI.resourceFieldRef.containerName: Required value',
        'v.downwardAPI.resourceFieldRef.resource: Required value',
        'v.downwardAPI.resourceFieldRef.resource: Unsupported value: "limits.pods"',
        'v.downwardAPI.resourceFieldRef.divisor: ',
      ],
    ],
    [
      'of trust bundles by name, and of a signer with labels',
      projected(
        trust({ name: 'a.b:c:one', path: 'one' }),
        trust({ name: 'two', path: 'two' }),
        trust({ signerName: 'a.b/c', labelSelector: { matchLabels: { a: 'b' } }, path: 'three' }),
      ),
      [],
    ],
    [
      'of trust bundles that are not named, or named twice',
      projected(
        trust({}),
        trust({ name: 'a', signerName: 'a.b/c', path: 'b' }),
        trust({ name: '', path: 'c' }),
      ),
      [
        `${s0}.clusterTrustBundle: Required value: either name or signerName must be specified`,
        'v.projected.sources[1].clusterTrustBundle: Invalid value: ',
        'v.projected.sources[2].clusterTrustBundle.name: Required value: must be a valid object name',
        'v.projected.sources[2].clusterTrustBundle.name: Invalid value: "": not a valid clustertrustbundlename: ',
      ],
    ],
    [
      'of trust bundles with invalid names, signers, selectors and paths',
      projected(
        trust({ name: 'a.b:c:A', labelSelector: {}, path: '/a' }),
        trust({ signerName: 'a', labelSelector: { matchLabels: { '-': 'b' } }, path: 'b' }),
      ),
      [
        `${s0}.clusterTrustBundle.name: Invalid value: "a.b:c:A": not a valid clustertrustbundlename: `,
        `${s0}.clusterTrustBundle.labelSelector: Invalid value: {}: labelSelector must be unset if name is specified`,
        `${s0}.clusterTrustBundle.path: Invalid value: "/a": must be a relative path`,
        'v.projected.sources[1].clusterTrustBundle.signerName: Invalid value: "a": must be a fully qualified domain',
        'v.projected.sources[1].clusterTrustBundle.labelSelector.matchLabels: Invalid value: "-": ',
      ],
    ],
    [
      'of certificates of the pod',
      projected(
        certificate({ certificateChainPath: 'tls/chain', maxExpirationSeconds: 3600 }),
        certificate({ keyPath: '', credentialBundlePath: 'both', maxExpirationSeconds: 7_862_400 }),
        certificate({ keyPath: 'other', keyType: 'RSA3072', userAnnotations: { 'A.b/c': 'd' } }),
      ),
      [],
    ],
    [
      'of certificates of the pod with invalid terms',
      projected(
        certificate({ signerName: 'a', keyType: 'RSA2048', maxExpirationSeconds: 3599 }),
        certificate({ keyPath: 'b', maxExpirationSeconds: 7_862_401, userAnnotations: { d: 'e' } }),
        certificate({ keyPath: 'c', signerName: 'kubernetes.io/a', maxExpirationSeconds: 86_401 }),
      ),
      [
        `${s0}.podCertificate.signerName: Invalid value: "a": must be a fully qualified domain`,
        `${s0}.podCertificate.keyType: Unsupported value: "RSA2048": supported values: "RSA3072", "RSA4096", `,
        `${s0}.podCertificate.maxExpirationSeconds: Invalid value: 3599: if provided, maxExpirationSeconds must be >= 3600`,
        'v.projected.sources[1].podCertificate.userAnnotations: Invalid value: "d": must be a domain-prefixed key',
        'v.projected.sources[1].podCertificate.maxExpirationSeconds: Invalid value: 7862401: if provided, maxExpirationSeconds must be <= 7862400',
        'v.projected.sources[2].podCertificate.maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400',
      ],
    ],
    [
      'of certificates of the pod without files, and with files outside or of another source',
      projected(
        certificate({ keyPath: undefined }),
        certificate({ keyPath: '../a', certificateChainPath: '/b' }),
        certificate({ keyPath: 'c', credentialBundlePath: 'c' }),
      ),
      [
        `${s0}.podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath`,
        `v.projected.sources[1].podCertificate.keyPath: Invalid value: "../a": must not contain '..'`,
        'v.projected.sources[1].podCertificate.certificateChainPath: Invalid value: "/b": must be a relative path',
        'v.projected.sources[2].podCertificate: Invalid value: "c": conflicting duplicate paths',
      ],
    ],
    ['of an invalid source', projected({}), [`${s0}: Required value: must specify a source`]],
    [
      'of a source with two types',
      projected({ configMap: { name: 'c' }, ...token() }),
      [`${s0}.serviceAccountToken: Forbidden: may not specify more than 1 volume type per source`],
    ],
    [
      'of sources without names',
      projected(
        { configMap: { items: [item('', { key: '' })] } },
        { secret: { items: [item('', { mode: -1 })] } },
      ),
      [
        `${s0}.configMap.name: Required value`,
        `${s0}.configMap.items[0].key: Required value`,
        `${s0}.configMap.items[0].path: Required value`,
        'v.projected.sources[1].secret.name: Required value',
        'v.projected.sources[1].secret.items[0].path: Required value',
        `v.projected.sources[1].secret.items[0].mode: Invalid value: -1: ${modes}`,
      ],
    ],
    [
      'of an invalid mode',
      { projected: { defaultMode: 0o1000 } },
      [`v.projected.defaultMode: Invalid value: 512: ${modes}`],
    ],
    [
      'with two files at one path',
      projected(
        { configMap: { name: 'c', items: [item('x')] } },
        { secret: { name: 's', items: [item('y'), item('x')] } },
        token({ path: 'y' }),
      ),
      [
        'v.projected.sources[1].secret: Invalid value: "x": conflicting duplicate paths',
        'v.projected.sources[2].serviceAccountToken: Invalid value: "y": conflicting duplicate paths',
      ],
    ],
    ['with a token valid for ten minutes', projected(token({ expirationSeconds: 600 })), []],
    ['with a token of the maximum validity', projected(token({ expirationSeconds: 2 ** 32 })), []],
    [
      'with a token below the minimum validity',
      projected(token({ expirationSeconds: 599 })),
      [
        `${s0}.serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`,
      ],
    ],
    [
      'with a token above the maximum validity',
      projected(token({ expirationSeconds: 2 ** 32 + 1 })),
      [
        `${s0}.serviceAccountToken.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`,
      ],
    ],
  ];
  for (const [what, volume, expected] of table)
    it(what, () => {
      const found = told(volume);
      assert.equal(found.length, expected.length, found.join('\n'));
      for (const [index, text] of expected.entries())
        assert.ok(found[index]?.startsWith(text), String(found[index]));
    });
});

describe('a file of a volume', () => {
  for (const [path, why] of [
    ['a/..b', undefined],
    ['a/b..', undefined],
    ['.a', undefined],
    ['/a', 'must be a relative path'],
    ['..', "must not contain '..'"],
    ['a/../b', "must not contain '..'"],
    ['a/..', "must not contain '..'"],
    ['..data', "must not start with '..'"],
  ] as const)
    it(`${why ? 'is not' : 'may be'} ${path}`, () => {
      const expected = why === undefined ? [] : [`Invalid value: ${JSON.stringify(path)}: ${why}`];
      for (const [volume, field] of [
        [{ secret: { secretName: 's', items: [item(path)] } }, 'v.secret.items[0].path'],
        [{ configMap: { name: 'c', items: [item(path)] } }, 'v.configMap.items[0].path'],
        [{ downwardAPI: { items: [{ ...name, path }] } }, 'v.downwardAPI.path'],
        [projected(token({ path })), `${s0}.serviceAccountToken.path`],
      ] as const)
        assert.deepEqual(
          told(volume),
          expected.map((text) => `${field}: ${text}`),
        );
    });
});

describe('a field of the pod in a file', () => {
  for (const [fieldPath, may] of [
    ['metadata.name', true],
    ['metadata.namespace', true],
    ['metadata.uid', true],
    ['metadata.labels', true],
    ['metadata.annotations', true],
    ["metadata.labels['a/b']", true],
    ["metadata.annotations['a']", true],
    ["metadata.labels['']", false],
    ['metadata.labels.a', false],
    ['spec.nodeName', false],
    ['status.podIP', false],
    ['', false],
  ] as const)
    it(`${may ? 'may be' : 'must not be'} ${fieldPath || 'absent'}`, () =>
      assert.equal(
        told({ downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath } }] } }).length,
        may ? 0 : 1,
      ));
});
