import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigMap } from '../../../../../src/api/core/v1/config-map.ts';
import { containerReferences } from '../../../../../src/api/core/v1/pod/references.ts';
import type { Secret } from '../../../../../src/api/core/v1/secret.ts';
import { type ConfigSources, resolveEnv } from '../../../../../src/kubelet/environment/plan/env.ts';
import { makePod } from '../../builders.ts';

const facts = {
  podIPs: ['10.244.0.2', 'fd00:10:244::2'],
  hostIPs: ['192.0.2.1', '2001:db8::1'],
  allocatable: { cpu: '4', memory: '8Gi' },
  serviceVariables: new Map([['WEB_SERVICE_HOST', '10.96.0.9']]),
};
/** Variables that every container has for the Services. */
const linked = { WEB_SERVICE_HOST: '10.96.0.9' };
const metadata = { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
const map: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  data: { colour: 'green', SIZE: 'big' },
};
const secret: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata,
  type: 'Opaque',
  data: { token: btoa('s3cret') },
};
const sources: ConfigSources = {
  configMaps: new Map([
    ['settings', map],
    ['empty', { apiVersion: 'v1', kind: 'ConfigMap', metadata }],
  ]),
  secrets: new Map([['keys', secret]]),
};

function resolve(container: object, from: ConfigSources = sources) {
  const pod = makePod(
    { serviceAccountName: 'robot', containers: [{ name: 'main', image: 'app:1', ...container }] },
    { labels: { app: 'web' }, annotations: { 'a/b': 'note' } },
  );
  const [wanted] = pod.spec.containers;
  assert.ok(wanted);
  return Object.fromEntries(resolveEnv(pod, wanted, facts, from));
}

describe('resolveEnv', () => {
  it('takes fields of the pod', () => {
    const paths: Record<string, string> = {
      'metadata.name': 'web',
      'metadata.namespace': 'shop',
      'metadata.uid': 'uid-1',
      "metadata.labels['app']": 'web',
      "metadata.annotations['a/b']": 'note',
      "metadata.labels['absent']": '',
      // Properties that every JavaScript object has do not count.
      "metadata.labels['constructor']": '',
      "metadata.annotations['toString']": '',
      'spec.nodeName': 'node-1',
      'spec.serviceAccountName': 'robot',
      'status.podIP': '10.244.0.2',
      'status.podIPs': '10.244.0.2,fd00:10:244::2',
      'status.hostIP': '192.0.2.1',
      'status.hostIPs': '192.0.2.1,2001:db8::1',
    };
    const env = Object.keys(paths).map((fieldPath) => ({
      name: fieldPath,
      valueFrom: { fieldRef: { fieldPath } },
    }));
    assert.deepEqual(resolve({ env }), { ...paths, ...linked });
  });

  it('returns empty texts for absent labels and annotations, and the default service account', () => {
    const field = (fieldPath: string) => ({ name: fieldPath, valueFrom: { fieldRef: { fieldPath } } });
    const env = [field("metadata.labels['a']"), field("metadata.annotations['a']")];
    const pod = makePod({
      containers: [{ name: 'main', image: 'app:1', env: [...env, field('spec.serviceAccountName')] }],
    });
    const [wanted] = pod.spec.containers;
    assert.ok(wanted);
    assert.deepEqual(Object.fromEntries(resolveEnv(pod, wanted, facts, sources)), {
      "metadata.labels['a']": '',
      "metadata.annotations['a']": '',
      'spec.serviceAccountName': 'default',
      ...linked,
    });
  });

  it('accepts variables without a value', () => {
    assert.deepEqual(resolve({ env: [{ name: 'A' }, { name: 'B', value: '' }] }), {
      A: '',
      B: '',
      ...linked,
    });
  });

  it('returns no variables for ConfigMaps and Secrets without keys', () => {
    const { data: _, ...emptyMap } = map;
    const { data: __, ...emptySecret } = secret;
    const from = {
      configMaps: new Map([['settings', emptyMap]]),
      secrets: new Map([['keys', emptySecret]]),
    };
    const envFrom = [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'keys' } }];
    assert.deepEqual(resolve({ envFrom }, from), linked);
  });

  it('returns single keys and whole maps, of which later ones replace earlier ones', () => {
    assert.deepEqual(
      resolve({
        envFrom: [{ configMapRef: { name: 'settings' } }, { prefix: 'K_', secretRef: { name: 'keys' } }],
        env: [
          { name: 'SIZE', value: 'small' },
          { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'keys', key: 'token' } } },
          { name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'colour' } } },
        ],
      }),
      { colour: 'green', SIZE: 'small', K_token: 's3cret', TOKEN: 's3cret', COLOUR: 'green', ...linked },
    );
  });

  it('omits optional sources that do not exist', () => {
    const optional = true;
    const env = [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'none', key: 'k', optional } } },
      { name: 'B', valueFrom: { secretKeyRef: { name: 'keys', key: 'none', optional } } },
    ];
    const envFrom = [{ secretRef: { name: 'none', optional } }, { configMapRef: { name: 'none', optional } }];
    assert.deepEqual(resolve({ env, envFrom }), linked);
  });

  for (const [name, container, message] of [
    [
      'a ConfigMap of envFrom that does not exist',
      { envFrom: [{ configMapRef: { name: 'none' } }] },
      'configmap "none" not found',
    ],
    [
      'a Secret of envFrom that does not exist',
      { envFrom: [{ secretRef: { name: 'none' } }] },
      'secret "none" not found',
    ],
    [
      'a key that the ConfigMap lacks',
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none' } } }] },
      "couldn't find key none in ConfigMap shop/settings",
    ],
    [
      'a key of an empty ConfigMap',
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'empty', key: 'none' } } }] },
      "couldn't find key none in ConfigMap shop/empty",
    ],
    [
      'a key that the Secret lacks',
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'none' } } }] },
      "couldn't find key none in Secret shop/keys",
    ],
    [
      'a key of a ConfigMap that does not exist',
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'none', key: 'k' } } }] },
      'configmap "none" not found',
    ],
    [
      'a key of a Secret that does not exist',
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'none', key: 'k' } } }] },
      'secret "none" not found',
    ],
    [
      'a key that is only a property of every JavaScript object',
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'toString' } } }] },
      "couldn't find key toString in ConfigMap shop/settings",
    ],
    [
      'a field that is unsupported',
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] },
      'unsupported fieldPath: spec.x',
    ],
    [
      'a source of an unknown type',
      { env: [{ name: 'A', valueFrom: { fileKeyRef: { key: 'a' } } }] },
      /env A: valueFrom must have one of/,
    ],
  ] as const) {
    it(`refuses ${name}`, () => {
      assert.throws(() => resolve(container), { name: 'ContainerConfigError', message });
    });
  }

  it('accepts keys that no shell would accept as a name', () => {
    const named: ConfigMap = { ...map, data: { 'data-1': 'one', '2.x': 'two' } };
    const from = { ...sources, configMaps: new Map([['settings', named]]) };
    assert.deepEqual(resolve({ envFrom: [{ prefix: 'p-', configMapRef: { name: 'settings' } }] }, from), {
      'p-data-1': 'one',
      'p-2.x': 'two',
      ...linked,
    });
  });

  it('includes the variables of Services, which variables of the container replace', () => {
    const env = [
      { name: 'URL', value: 'http://$(WEB_SERVICE_HOST)' },
      { name: 'WEB_SERVICE_HOST', value: 'mine' },
      { name: 'OWN', value: '$(WEB_SERVICE_HOST)' },
    ];
    assert.deepEqual(resolve({ env }), { URL: 'http://10.96.0.9', WEB_SERVICE_HOST: 'mine', OWN: 'mine' });
  });

  it('returns limits of the container, and the amounts of the node for limits that it lacks', () => {
    const limit = (resource: string) => ({ name: resource, valueFrom: { resourceFieldRef: { resource } } });
    const resources = { limits: { cpu: '1250m' } };
    assert.deepEqual(resolve({ resources, env: [limit('limits.cpu'), limit('limits.memory')] }), {
      'limits.cpu': '2',
      'limits.memory': String(8 * 2 ** 30),
      ...linked,
    });
  });

  it('refuses bytes that are not text', () => {
    const bytes: Secret = { ...secret, data: { token: btoa('\xff\xfe') } };
    const from = { ...sources, secrets: new Map([['keys', bytes]]) };
    const env = [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'token' } } }];
    for (const [container, what] of [
      [{ env }, 'env A'],
      [{ envFrom: [{ secretRef: { name: 'keys' } }] }, 'key token of secret "keys"'],
    ] as const)
      assert.throws(() => resolve(container, from), {
        name: 'ContainerConfigError',
        message: `${what}: the value is not UTF-8 text and cannot be an environment variable`,
      });
  });

  it('keeps text unchanged, also with a byte order mark', () => {
    const marked: Secret = { ...secret, data: { token: btoa('\xef\xbb\xbfx') } };
    const env = [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'token' } } }];
    const from = { ...sources, secrets: new Map([['keys', marked]]) };
    assert.deepEqual(resolve({ env }, from), { A: '\ufeffx', ...linked });
  });

  it('returns the names of all required ConfigMaps and Secrets', () => {
    const pod = makePod({
      containers: [
        {
          name: 'main',
          image: 'a',
          envFrom: [{ configMapRef: { name: 'm1' } }, { secretRef: { name: 's1' } }],
          env: [
            { name: 'A', valueFrom: { configMapKeyRef: { name: 'm2', key: 'k' } } },
            { name: 'B', valueFrom: { secretKeyRef: { name: 's2', key: 'k' } } },
          ],
        },
      ],
    });
    const [container] = pod.spec.containers;
    assert.ok(container);
    assert.deepEqual(containerReferences(container), {
      configMaps: new Set(['m1', 'm2']),
      secrets: new Set(['s1', 's2']),
    });
  });
});

describe('a variable', () => {
  it('may refer to earlier variables, not to later ones', () => {
    assert.deepEqual(
      resolve({
        env: [
          { name: 'B', value: '$(A)' },
          { name: 'A', value: '1' },
          { name: 'C', value: '$(A)$(B)' },
        ],
      }),
      { B: '$(A)', A: '1', C: '1$(A)', ...linked },
    );
  });

  it('may not be larger than a program can receive, alone or together with other variables', () => {
    const doubled = Array.from({ length: 40 }, (_, at) => ({
      name: `V${at}`,
      value: at === 0 ? 'x'.repeat(1000) : `$(V${at - 1})$(V${at - 1})`,
    }));
    assert.throws(() => resolve({ env: doubled }), /a text with its variables has more than 131071 bytes/);
    const copies = Array.from({ length: 100 }, (_, at) => ({ name: `C${at}`, value: 'a$(V6)' }));
    assert.throws(() => resolve({ env: [...doubled.slice(0, 7), ...copies] }), /more than 6291456 bytes/);
    const large = { ...map, data: { big: 'x'.repeat(2 ** 20) } };
    const from = { ...sources, configMaps: new Map([['large', large]]) };
    const envFrom = Array.from({ length: 7 }, (_, at) => ({
      prefix: `P${at}`,
      configMapRef: { name: 'large' },
    }));
    assert.throws(() => resolve({ envFrom }, from), /more than 6291456 bytes/);
    const same = envFrom.map((one) => ({ ...one, prefix: 'P' }));
    assert.deepEqual(Object.keys(resolve({ envFrom: same }, from)), ['Pbig', ...Object.keys(linked)]);
  });
});
