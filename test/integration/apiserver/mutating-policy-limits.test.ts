/**
 * MutatingAdmissionPolicies that fail, cost too much, do not apply, or were written by a user with few
 * rights.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import {
  apply,
  binding,
  type ConfigMap,
  configMap,
  dry,
  group,
  json,
  label,
  path,
  policy,
  post,
  refusal,
  ruleFor,
  serveMutatingPolicies,
  server,
  withPolicies,
} from './mutating-policy-server.ts';

serveMutatingPolicies();

describe('a mutation that cannot be applied', () => {
  const problems: readonly (readonly [title: string, mutation: object, problem: RegExp, object?: object])[] =
    [
      [
        'fails',
        apply('Object{data: {"a": object.data.missing}}'),
        /expression 'Object\{.*' resulted in error: no such key: missing$/,
      ],
      [
        'names a field that the kind lacks',
        apply('Object{nothing: "x"}'),
        /error applying patch: failed to convert patch object to typed object: \.nothing: field not declared in schema$/,
      ],
      [
        'has a value of the wrong type',
        apply('Object{immutable: "x"}'),
        /error applying patch: failed to convert patch object to typed object: /,
      ],
      [
        'has an object of another field',
        apply('Object{metadata: Object.data{name: "x"}}'),
        /type mismatch: unexpected type name "Object.data", expected "Object.metadata", which matches field name path from root Object type$/,
      ],
      [
        'sets a part of an atomic list',
        apply(
          'Object{metadata: Object.metadata{ownerReferences: [{"uid": "x", "name": "y"}], managedFields: [{"manager": "x"}]}}',
        ),
        /invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .metadata.ownerReferences\[0\], .metadata.managedFields$/,
      ],
      [
        'lacks the key of a list',
        apply('Object{metadata: Object.metadata{ownerReferences: [{"name": "x"}]}}'),
        /an item lacks its key field "uid"$/,
      ],
      [
        'patches a missing path',
        json('[JSONPatch{op: "remove", path: "/data/none"}]'),
        /JSON Patch: remove operation does not apply: doc is missing path: \/data\/none/,
      ],
      [
        'is an unknown operation',
        json('[JSONPatch{op: "grow", path: "/data"}]'),
        /JSON Patch: error decoding patch: operation 0: unknown op "grow"/,
      ],
      [
        'creates a value that is too large',
        apply(
          `Object{data: {"a": "${'x'.repeat(100)}".replace("x", "${'y'.repeat(200)}").replace("y", "${'z'.repeat(200)}")}}`,
        ),
        /actual cost limit exceeded|more than 3145728 characters|RequestEntityTooLarge/,
      ],
    ];
  for (const [title, mutation, problem] of problems)
    it(`${title}, and the request is rejected unless the policy ignores failures`, async () => {
      const spec = { mutations: [mutation] };
      await withPolicies({ broken: { spec } }, async () => {
        const { status, message } = await refusal(configMap('six', { a: 'b' }));
        assert.equal(status, 403);
        assert.match(message, /^policy 'broken' with binding 'broken' denied request: /);
        assert.match(message, problem);
      });
      await withPolicies({ broken: { spec: { ...spec, failurePolicy: 'Ignore' } } }, async () => {
        assert.deepEqual((await dry<ConfigMap>(configMap('six', { a: 'b' }))).data, { a: 'b' });
      });
    });

  it('cannot change the name, namespace, kind, version, uid or field managers of an object', async () => {
    const change = (field: string) => apply(`Object{metadata: Object.metadata{${field}}}`);
    const refused: readonly (readonly [mutation: object, status: number, message: RegExp])[] = [
      [change('name: "other"'), 422, /metadata.name: Invalid value: "other": field is immutable/],
      [change('namespace: "other"'), 422, /metadata.namespace: Invalid value: "other": field is immutable/],
      [
        json('[JSONPatch{op: "replace", path: "/kind", value: "Secret"}]'),
        500,
        /the kind in the data does not match/,
      ],
      [json('[JSONPatch{op: "add", path: "/nothing", value: 1}]'), 500, /unknown field "nothing"/],
      [
        json('[JSONPatch{op: "replace", path: "", value: 1}]'),
        403,
        /JSON Patch: the result of the patch is not an object/,
      ],
    ];
    for (const [mutation, status, message] of refused)
      await withPolicies({ identity: { spec: { mutations: [mutation] } } }, async () => {
        const found = await refusal(configMap('seven', { a: 'b' }));
        assert.equal(found.status, status, found.message);
        assert.match(found.message, message);
      });
    const kept = [
      apply('Object{apiVersion: "v9", kind: "Secret"}'),
      change('uid: "x", resourceVersion: "7", generation: 5, creationTimestamp: "2020-01-01T00:00:00Z"'),
      json('[JSONPatch{op: "add", path: "/metadata/managedFields", value: []}]'),
    ];
    await withPolicies({ identity: { spec: { mutations: kept } } }, async () => {
      const made = await dry<ConfigMap & { kind: string; metadata: Record<string, unknown> }>(
        configMap('seven'),
      );
      assert.equal(made.kind, 'ConfigMap');
      assert.notEqual(made.metadata.uid, 'x');
      assert.notEqual(made.metadata.creationTimestamp, '2020-01-01T00:00:00Z');
      assert.equal((made.metadata.managedFields as object[]).length, 1);
    });
  });

  it('cannot set a key called __proto__, and reaches no prototype', async () => {
    const named: readonly (readonly [mutation: object, message: RegExp])[] = [
      [apply('Object{data: {"__proto__": "x"}}'), /\.data\.__proto__: field not declared in schema$/],
      [
        json('[JSONPatch{op: "add", path: "/data/__proto__", value: "x"}]'),
        /unknown field "data\.__proto__"/,
      ],
      [
        json('[JSONPatch{op: "add", path: "/__proto__/polluted", value: "x"}]'),
        /doc is missing path: \/__proto__: missing value$/,
      ],
    ];
    for (const [mutation, message] of named)
      await withPolicies({ proto: { spec: { mutations: [mutation] } } }, async () => {
        assert.match((await refusal(configMap('eight', { a: 'b' }))).message, message);
        assert.equal(({} as Record<string, unknown>).polluted, undefined);
      });
    const spec = { mutations: [json('[JSONPatch{op: "add", path: "/data/constructor", value: "y"}]')] };
    await withPolicies({ proto: { spec } }, async () => {
      assert.deepEqual((await dry<ConfigMap>(configMap('eight', { a: 'b' }))).data, {
        a: 'b',
        constructor: 'y',
      });
    });
  });
});

describe('a costly mutation', () => {
  const costly: readonly (readonly [title: string, mutation: object, problem: RegExp])[] = [
    [
      'that loops three times over the data is ended by its budget',
      apply(
        'Object{data: {"a": string(variables.many.all(a, variables.many.all(b, variables.many.all(c, a + b + c >= 0))))}}',
      ),
      /cost limit exceeded/,
    ],
    [
      'whose value names one list many times is refused by its size',
      json('[JSONPatch{op: "add", path: "/data", value: variables.many.map(a, variables.many)}]'),
      /the value has more than 45000 parts/,
    ],
  ];
  for (const [title, mutation, problem] of costly)
    it(title, async () => {
      const long = { name: 'many', expression: 'object.data.text.split(",").map(n, int(n))' };
      const spec = { variables: [long], mutations: [mutation] };
      await withPolicies({ costly: { spec } }, async () => {
        const text = Array.from({ length: 500 }, (_, at) => at).join();
        assert.match((await refusal(configMap('costly', { text }))).message, problem);
      });
    });
});

describe('mutating policies do not apply', () => {
  it('to policies, bindings and webhook configurations', async () => {
    const every = {
      resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
    };
    const spec = {
      matchConstraints: every,
      mutations: [apply('Object{metadata: Object.metadata{name: "x"}}')],
    };
    await withPolicies({ all: { spec } }, async () => {
      assert.equal((await refusal(configMap('nine'))).status, 422);
      const other = await server.call(
        'POST',
        `${group}/mutatingadmissionpolicies`,
        policy('other', {
          mutations: [label('a', '"b"')],
        }),
      );
      assert.equal(other.status, 201, other.text);
      assert.equal((await server.call('DELETE', `${group}/mutatingadmissionpolicies/other`)).status, 200);
    });
  });

  it('to requests that store no object: a request that a policy would change is rejected, and other requests are accepted', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    assert.equal(
      (
        await server.call('POST', accounts, {
          apiVersion: 'v1',
          kind: 'ServiceAccount',
          metadata: { name: 'app' },
        })
      ).status,
      201,
    );
    const matchConstraints = ruleFor('', 'serviceaccounts/token');
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [], expirationSeconds: 3600 },
    };
    const longer = apply('Object{spec: Object.spec{expirationSeconds: 7200}}');
    await withPolicies({ token: { spec: { matchConstraints, mutations: [longer] } } }, async () => {
      const answer = await server.call('POST', `${accounts}/app/token`, request);
      assert.equal(answer.status, 403, answer.text);
      assert.match(
        String(answer.json<Status>().message),
        /requests for serviceaccounts\/token cannot be changed by policies$/,
      );
    });
    const same = json('[]');
    const nothing = {
      matchConstraints,
      mutations: [
        { ...same, jsonPatch: { expression: 'true ? [] : [JSONPatch{op: "remove", path: "/a"}]' } },
      ],
    };
    await withPolicies({ token: { spec: nothing } }, async () => {
      assert.equal((await server.call('POST', `${accounts}/app/token`, request)).status, 201);
    });
  });
});

it('to an object that they make invalid: the request is rejected', async () => {
  assert.equal((await post(configMap('kept', { a: 'b' }))).status, 201);
  const spec = {
    mutations: [apply('Object{data: {"a": "changed"}}'), apply('Object{data: {"not a key": "x"}}')],
  };
  await withPolicies({ invalid: { spec } }, async () => {
    const update = await server.call('PUT', `${path}/kept`, configMap('kept', { a: 'c' }));
    assert.equal(update.status, 422, update.text);
    assert.deepEqual((await server.call('GET', `${path}/kept`)).json<ConfigMap>().data, { a: 'b' });
  });
  assert.equal((await server.call('DELETE', `${path}/kept`)).status, 200);
});

describe('a user who may write mutating policies, but not read Secrets', () => {
  const author = { name: 'author', groups: ['system:authenticated'] };
  const as = (plural: string, object: object) =>
    server.call('POST', `${group}/${plural}`, object, { user: author });
  const secrets = {
    paramKind: { apiVersion: 'v1', kind: 'Secret' },
    mutations: [label('leak', 'params.data.password')],
  };
  const paramRef = { name: 's', namespace: 'kube-system', parameterNotFoundAction: 'Deny' };

  it('cannot use them as parameters, and cannot change a policy that uses them', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const resources = ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'];
    const rules = [{ apiGroups: ['admissionregistration.k8s.io'], resources, verbs: ['*'] }];
    await server.call('POST', `${rbac}/clusterroles`, { metadata: { name: 'policies' }, rules });
    await server.call('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'policies' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'policies' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: author.name }],
    });
    await server.call('GET', `${rbac}/clusterrolebindings`);
    const own = await as('mutatingadmissionpolicies', policy('own', secrets));
    assert.equal(own.status, 422, own.text);
    assert.match(own.text, /spec.paramKind: Forbidden: user .*must have .*get.* permission on all objects/);
    const ofAdmin = await server.call(
      'POST',
      `${group}/mutatingadmissionpolicies`,
      policy('of-admin', secrets),
    );
    assert.equal(ofAdmin.status, 201, ofAdmin.text);
    for (const name of ['of-admin', 'no-policy-yet']) {
      const bound = await as('mutatingadmissionpolicybindings', binding(name, { paramRef }));
      assert.equal(bound.status, 422, bound.text);
      assert.match(bound.text, /spec.paramRef: Forbidden: user .*does not have .*get.* permission/);
    }
    const plain = await as('mutatingadmissionpolicies', policy('plain', { mutations: [label('a', '"b"')] }));
    assert.equal(plain.status, 201, plain.text);
  });
});
