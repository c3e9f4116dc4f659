import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choiceLines, typeLines } from '../../../src/api/kubernetes-types.gen.ts';
import { headFields, headRules } from '../../../src/api/own-kind.ts';
import { sharedRules } from '../../../src/api/shared-rules.ts';
import {
  convertObject,
  type FieldValidation,
  parseFieldValidation,
} from '../../../src/apimachinery/decode.ts';
import { parseJson } from '../../../src/apimachinery/json-decode.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { StatusError } from '../../../src/apimachinery/status-error.ts';
import { createTypeTable } from '../../../src/apimachinery/type-table.ts';
import { parseYaml } from '../../../src/apimachinery/yaml.ts';
import { kindFields, registry } from '../../../src/features/kinds.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

/** Returns a body as the server decodes it. */
function decodeBody<T extends KubeObject>(
  definition: ResourceDefinition<T>,
  body: string,
  validation: FieldValidation,
) {
  const { value, duplicates } = parseJson(body, true);
  return convertObject(table, definition, value, validation, duplicates);
}

/** Defines a kind of this test: the fields of the real kinds that minik8s acts on may grow. */
function define(
  kind: string,
  typeName: string,
  apiVersion: string,
  rest: Pick<ResourceDefinition, 'rules' | 'types'>,
): ResourceDefinition {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return {
    group,
    version,
    kind,
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    typeName,
    ...rest,
    strategy: { countsGenerations: true },
    hasStatus: true,
    columns: [],
    selectableFields: {},
    deleteAnswers: 'status',
  };
}

const deployment = define('Deployment', 'apps.v1.Deployment', 'apps/v1', {
  rules: {
    'apps.v1.Deployment': {},
    'apps.v1.DeploymentSpec': { acts: 'replicas selector template strategy', defaults: { replicas: 1 } },
    'core.v1.PodTemplateSpec': { requires: 'spec', defaults: { metadata: {} } },
    'core.v1.PodSpec': {
      acts: 'restartPolicy schedulerName nodeName containers securityContext',
      defaults: { restartPolicy: 'Always', schedulerName: 'default-scheduler' },
      choices: { restartPolicy: ['Always', 'OnFailure', 'Never'] },
      quiet: { preemptionPolicy: ['Never'], priority: 'any' },
    },
    'core.v1.Container': { defaults: { image: '', resources: {} } },
  },
});
const secret = define('Secret', 'core.v1.Secret', 'v1', { rules: { 'core.v1.Secret': {} } });
const table = createTypeTable(typeLines, choiceLines, {
  ...sharedRules,
  ...deployment.rules,
  ...secret.rules,
});

const thing = define('Thing', 'Thing', 'minik8s.io/v1', {
  types: {
    Thing: { ...headFields('Thing'), 'spec!:ThingSpec': 'What it does.' },
    ThingSpec: { 'url!:string': 'Where.', 'mode:string': 'How.' },
  },
  rules: {
    Thing: headRules('Thing'),
    ThingSpec: { defaults: { mode: 'fast' }, choices: { mode: ['fast', 'slow'] } },
  },
});

const container = { name: 'c', image: 'busybox' };
const good = (spec: object = {}, podSpecPatch: object = {}) => ({
  metadata: { name: 'web', namespace: 'default', creationTimestamp: null },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' }, creationTimestamp: null },
      spec: { containers: [container], ...podSpecPatch },
    },
    ...spec,
  },
});

const decode = (value: unknown, validation: FieldValidation = 'Strict', definition = deployment) =>
  decodeBody(definition, JSON.stringify(value), validation);
const at = (object: unknown, path: string) =>
  path.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown>)?.[key], object);

test('bodies of Go clients are accepted under Strict, without warnings', () => {
  const body = {
    ...good({ strategy: {}, replicas: null }, { securityContext: {}, restartPolicy: '' }),
    status: {},
  };
  const { object, warnings } = decode(body);
  assert.deepEqual(warnings, []);
  assert.equal(object.kind, 'Deployment');
  assert.equal(object.apiVersion, 'apps/v1');
  assert.equal(object.metadata.creationTimestamp, '');
  assert.equal(at(object, 'spec.replicas'), 1);
  assert.equal(at(object, 'spec.template.spec.restartPolicy'), 'Always');
  assert.equal(at(object, 'spec.template.spec.schedulerName'), 'default-scheduler');
});

test('for unknown and duplicate fields Strict rejects the object, Warn drops them with warnings, and Ignore drops them', () => {
  const body =
    '{"metadata":{"name":"w"},"spec":{"replicas":1,"foo":1,"selector":{},"template":{"spec":{"containers":[{"name":"a","imag":"x"}]}},"replicas":2}}';
  const run = (validation: FieldValidation) => decodeBody(deployment, body, validation);
  assert.throws(() => run('Strict'), {
    message:
      'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.foo", unknown field "spec.template.spec.containers[0].imag", duplicate field "spec.replicas"',
  });
  const warned = run('Warn');
  assert.deepEqual(warned.warnings, [
    'unknown field "spec.foo"',
    'unknown field "spec.template.spec.containers[0].imag"',
    'duplicate field "spec.replicas"',
  ]);
  assert.equal(at(warned.object, 'spec.foo'), undefined);
  assert.equal(at(warned.object, 'spec.replicas'), 2);
  assert.deepEqual(run('Ignore').warnings, []);
  assert.deepEqual(run('Ignore').object, warned.object);
});

test('fields of Kubernetes without a rule are kept and reported, unless their value has no effect', () => {
  const { object, warnings } = decode(
    good(
      {},
      {
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'Sometimes' }],
        preemptionPolicy: 'Never',
        priority: 7,
        hostNetwork: false,
        subdomain: '',
        imagePullSecrets: [],
        affinity: {},
      },
    ),
  );
  assert.deepEqual(warnings, [
    'spec.template.spec.topologySpreadConstraints: known to Kubernetes, not acted on by minik8s',
  ]);
  assert.equal(at(object, 'spec.template.spec.topologySpreadConstraints.0.maxSkew'), 1);
});

for (const [what, value, message] of [
  [
    'text for a number',
    good({ replicas: '3' }),
    'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    'fraction',
    good({ replicas: 1.5 }),
    'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    'too big',
    good({ replicas: 3000000000 }),
    'json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    'object for a list',
    good({}, { containers: {} }),
    'json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container',
  ],
  [
    'number in a list of texts',
    good({}, { containers: [{ ...container, args: ['a', 80] }] }),
    'json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers[0].args[1] of type string',
  ],
  [
    'text for an object',
    { ...good(), metadata: 'web' },
    'json: cannot unmarshal string into Go struct field Deployment.metadata of type v1.ObjectMeta',
  ],
  [
    'number label',
    { ...good(), metadata: { name: 'w', labels: { a: 1 } } },
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels.a of type string',
  ],
  [
    'no quantity',
    good({}, { containers: [{ ...container, resources: { limits: { cpu: 'much' } } }] }),
    "spec.template.spec.containers[0].resources.limits.cpu: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [
    'a quantity that JSON does not read exactly',
    good({}, { containers: [{ ...container, resources: { limits: { cpu: 2 ** 53 } } }] }),
    'spec.template.spec.containers[0].resources.limits.cpu: a number over 2^53 is not read exactly; write the quantity as a string',
  ],
  [
    'an integer that JSON does not read exactly',
    { ...good(), metadata: { name: 'w', generation: 2 ** 53 } },
    'json: cannot unmarshal number 9007199254740992 into Go struct field ObjectMeta.metadata.generation of type int64',
  ],
  ['a list as body', [], 'the body must be an object'],
] as const) {
  test(`a body is rejected with 400: ${what}`, () => {
    assert.throws(
      () => decode(value),
      (error) => {
        assert.ok(error instanceof StatusError);
        assert.equal(error.status.code, 400);
        assert.equal(
          error.message,
          `Deployment in version "v1" cannot be handled as a Deployment: ${message}`,
        );
        return true;
      },
    );
  });
}

for (const [what, body, message] of [
  ['other apiVersion', '{"apiVersion":"v2"}', /\(v2\) does not match the expected API version \(apps\/v1\)/],
  ['other kind', '{"kind":"Pod"}', /Pod in version "v1" cannot be handled as a Deployment/],
] as const) {
  test(`a body is rejected with 400: ${what}`, () => {
    assert.throws(
      () => decodeBody(deployment, body, 'Warn'),
      (error) => {
        assert.ok(error instanceof StatusError);
        assert.equal(error.status.code, 400);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

const causesOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof StatusError);
    assert.equal(error.status.code, 422);
    return error.status.details?.causes?.map((cause) => `${cause.reason} ${cause.field}: ${cause.message}`);
  }
  return assert.fail('accepted');
};

test('missing fields and unsupported values are rejected with 422 and one cause each', () => {
  assert.deepEqual(
    causesOf(() => decode({ metadata: { name: 'web' } })),
    [
      'FieldValueRequired spec.selector: Required value',
      'FieldValueRequired spec.template.spec.containers: Required value',
    ],
  );
  assert.deepEqual(
    causesOf(() => decode(good({}, { restartPolicy: 'Sometimes', containers: [{}] }))),
    [
      'FieldValueRequired spec.template.spec.containers[0].name: Required value',
      'FieldValueNotSupported spec.template.spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
    ],
  );
});

test('YAML gives the same object as JSON', () => {
  const yaml =
    'metadata: {name: web}\nspec:\n  selector: {}\n  template:\n    spec:\n      containers:\n      - name: "on"\n        resources: {limits: {cpu: 0.5, memory: 1024Mi}}\n';
  const { object } = convertObject(table, deployment, parseYaml(yaml).value, 'Strict');
  const first = at(object, 'spec.template.spec.containers.0');
  assert.equal(at(first, 'name'), 'on');
  assert.deepEqual(at(first, 'resources.limits'), { cpu: '500m', memory: '1Gi' });
});

test('times and base64 become canonical; nulls in maps are zero values', () => {
  const { object } = decode(
    {
      metadata: { name: 's', deletionTimestamp: '2026-01-01T02:00:00.5+02:00', labels: { a: null } },
      data: { k: 'YQ==\n', n: null },
    },
    'Strict',
    secret,
  );
  assert.equal(object.metadata.deletionTimestamp, '2026-01-01T00:00:00Z');
  assert.deepEqual(object.metadata.labels, { a: '' });
  assert.deepEqual(at(object, 'data'), { k: 'YQ==', n: '' });
  assert.throws(
    () => decode({ data: { k: '%' } }, 'Warn', secret),
    /data\.k: illegal base64 data at input byte 0/,
  );
  for (const time of ['now', '', '2026-02-30T00:00:00Z', '2026-01-01T24:00:00Z', '9999-12-31T23:59:59-01:00'])
    assert.throws(
      () => decode({ metadata: { deletionTimestamp: time } }, 'Warn', secret),
      (error: Error) => error.message.includes(`metadata.deletionTimestamp: parsing time "${time}"`),
    );
});

test('an object that was never stored has no time of its creation', () => {
  const { object } = decode({ metadata: { name: 's', creationTimestamp: '' } }, 'Strict', secret);
  assert.equal(object.metadata.creationTimestamp, '');
});

test('an object of our own kind is decoded by its schema', () => {
  assert.throws(() => decode({ spec: { url: 'u', nope: 1 } }, 'Strict', thing), /unknown field "spec.nope"/);
  assert.throws(() => decode({ spec: { url: 1 } }, 'Strict', thing), /ThingSpec.spec.url of type string/);
  assert.deepEqual(
    causesOf(() => decode({ spec: { mode: 'x' } }, 'Strict', thing)),
    [
      'FieldValueNotSupported spec.mode: Unsupported value: "x": supported values: "fast", "slow"',
      'FieldValueRequired spec.url: Required value',
    ],
  );
});

test('for every value, decoding returns an object or a StatusError', () => {
  const random = new SeededRandom(7);
  const leaves = [null, 0, 1.5, '', 'x', true, [], {}, [null], 1e300, '1Gi', 'Always'];
  const mutate = (value: unknown): unknown => {
    if (random.next() < 0.04) return leaves[random.below(leaves.length)];
    if (Array.isArray(value)) return value.map(mutate);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [random.next() < 0.02 ? 'other' : key, mutate(inner)]),
    );
  };
  const pod = registry.find((definition) => definition.kind === 'Pod');
  assert.ok(pod);
  const body = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      labels: { a: 'b' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u' }],
      creationTimestamp: null,
    },
    spec: {
      nodeSelector: { a: 'b' },
      volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }],
      containers: [
        { name: 'c', image: 'i', ports: [{ containerPort: 80 }], resources: { limits: { cpu: 1 } } },
      ],
    },
  };
  let accepted = 0;
  for (let i = 0; i < 2000; i++) {
    try {
      const once: KubeObject = convertObject(kindFields, pod, mutate(body), 'Warn').object;
      assert.deepEqual(convertObject(kindFields, pod, once, 'Strict').object, once);
      accepted++;
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      assert.ok(error.status.code === 400 || error.status.code === 422);
    }
  }
  assert.ok(accepted > 100 && accepted < 1900, `${accepted} accepted`);
});

test('keys such as __proto__ are decoded as data', () => {
  const body =
    '{"metadata":{"name":"s","labels":{"__proto__":"x"}},"__proto__":{"polluted":true},"constructor":1}';
  const { object, warnings } = decodeBody(secret, body, 'Warn');
  assert.deepEqual(warnings, [
    'unknown field "metadata.labels.__proto__"',
    'unknown field "__proto__"',
    'unknown field "constructor"',
  ]);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.equal((object as unknown as Record<string, unknown>).polluted, undefined);
});

test('decoding a decoded object changes nothing', () => {
  const once = decode(good({}, { nodeName: 'n' })).object;
  const twice = convertObject(table, deployment, once, 'Strict');
  assert.deepEqual(twice.object, once);
  assert.deepEqual(twice.warnings, []);
});

test('fieldValidation accepts three values', () => {
  assert.equal(parseFieldValidation('', 'CreateOptions'), 'Warn');
  assert.equal(parseFieldValidation('Strict', 'CreateOptions'), 'Strict');
  assert.throws(
    () => parseFieldValidation('strict', 'CreateOptions'),
    (error) => error instanceof StatusError && error.status.code === 422,
  );
});
