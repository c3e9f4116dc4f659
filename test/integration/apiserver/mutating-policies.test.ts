/** MutatingAdmissionPolicies change requests, as Kubernetes' do. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
let server: TestServer;

before(async () => {
  server = await startTestServer();
});
after(async () => {
  await server.stop();
});

const ruleFor = (apiGroup: string, ...resources: string[]) => ({
  resourceRules: [{ apiGroups: [apiGroup], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources }],
});
const configMaps = ruleFor('', 'configmaps');
const deployments = ruleFor('apps', 'deployments');

const apply = (expression: string) => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
const json = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const label = (key: string, value: string) =>
  apply(`Object{metadata: Object.metadata{labels: {"${key}": ${value}}}}`);

const policy = (name: string, spec: object, version = 'v1') => ({
  apiVersion: `admissionregistration.k8s.io/${version}`,
  kind: 'MutatingAdmissionPolicy',
  metadata: { name },
  spec: { matchConstraints: configMaps, reinvocationPolicy: 'Never', ...spec },
});

const binding = (policyName: string, spec: object = {}, version = 'v1') => ({
  apiVersion: `admissionregistration.k8s.io/${version}`,
  kind: 'MutatingAdmissionPolicyBinding',
  metadata: { name: policyName },
  spec: { policyName, ...spec },
});

type Policies = Readonly<Record<string, { readonly spec: object; readonly bound?: object }>>;

/** Creates policies with their bindings, and removes all afterwards. */
async function withPolicies(policies: Policies, body: () => Promise<void>) {
  for (const [name, { spec, bound }] of Object.entries(policies)) {
    const made = await server.call('POST', `${group}/mutatingadmissionpolicies`, policy(name, spec));
    assert.equal(made.status, 201, made.text);
    const bindings = `${group}/mutatingadmissionpolicybindings`;
    const bindingMade = await server.call('POST', bindings, binding(name, bound));
    assert.equal(bindingMade.status, 201, bindingMade.text);
  }
  await seen();
  try {
    await body();
  } finally {
    for (const name of Object.keys(policies))
      for (const plural of ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'])
        assert.equal((await server.call('DELETE', `${group}/${plural}/${name}`)).status, 200);
    await seen();
  }
}

/** Lists wait until the cache is as new as the store, so the server has seen all earlier writes. */
async function seen() {
  for (const plural of ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies', 'configmaps']) {
    const path = plural === 'configmaps' ? '/api/v1' : group;
    assert.equal((await server.call('GET', `${path}/${plural}`)).status, 200);
  }
}

const configMap = (name: string, data: object = {}, labels?: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(labels && { labels }) },
  data,
});
interface ConfigMap {
  readonly data?: Record<string, string>;
  readonly metadata: { readonly labels?: object; readonly name: string };
}

const path = '/api/v1/namespaces/default/configmaps';
const post = (object: object) => server.call('POST', path, object);
/** Creates an object as a dry run, and returns what would be stored. */
async function dry<T>(object: object, at = path): Promise<T> {
  const answer = await server.call('POST', `${at}?dryRun=All`, object);
  assert.equal(answer.status, 201, answer.text);
  return answer.json<T>();
}
/** Returns status, reason and message of a refused create. */
async function refusal(object: object, at = path) {
  const answer = await server.call('POST', `${at}?dryRun=All`, object);
  const { reason, message } = answer.json<Status>();
  return { status: answer.status, reason, message: String(message) };
}

const deployment = (replicas = 1) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'nginx', args: ['-v'] }] },
    },
  },
});
const deploymentPath = '/apis/apps/v1/namespaces/default/deployments';
interface Pods {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly name: string; readonly image: string }[];
        readonly initContainers?: readonly object[];
      };
    };
  };
}

describe('a MutatingAdmissionPolicy', () => {
  it('merges the object that its expression makes, and stores the result', async () => {
    const spec = { mutations: [label('team', 'request.namespace + "-team"')] };
    await withPolicies({ team: { spec } }, async () => {
      const made = await post(configMap('one', { a: 'b' }, { own: 'yes' }));
      assert.equal(made.status, 201, made.text);
      assert.deepEqual(made.json<ConfigMap>().metadata.labels, { own: 'yes', team: 'default-team' });
      const stored = await server.call('GET', `${path}/one`);
      assert.deepEqual(stored.json<ConfigMap>().metadata.labels, { own: 'yes', team: 'default-team' });
      const update = await server.call('PUT', `${path}/one`, configMap('one', { a: 'c' }));
      assert.deepEqual(update.json<ConfigMap>().metadata.labels, { team: 'default-team' });
      assert.equal((await server.call('DELETE', `${path}/one`)).status, 200);
    });
    assert.equal((await dry<ConfigMap>(configMap('one'))).metadata.labels, undefined);
  });

  it('merges lists with keys item by item, with the defaults of added items', async () => {
    const expression = `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
      initContainers: [Object.spec.template.spec.initContainers{name: "mesh", image: "mesh", restartPolicy: "Always"}],
      containers: object.spec.template.spec.containers.map(c,
        Object.spec.template.spec.containers{name: c.name, image: "registry.local/" + c.image})
    }}}}`;
    const spec = { matchConstraints: deployments, mutations: [apply(expression)] };
    await withPolicies({ mesh: { spec } }, async () => {
      const { spec: pods } = await dry<Pods>(deployment(), deploymentPath);
      const { containers, initContainers } = pods.template.spec;
      assert.deepEqual(
        containers.map(({ name, image, args }: { name: string; image: string; args?: object }) => [
          name,
          image,
          args,
        ]),
        [['main', 'registry.local/nginx', ['-v']]],
      );
      const [mesh] = (initContainers ?? []) as readonly { readonly imagePullPolicy: string }[];
      assert.equal(mesh?.imagePullPolicy, 'Always');
    });
  });

  it('applies the operations of a JSON patch, and none of them after a failed test', async () => {
    const add = 'JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a.b/c"), value: "x"}';
    const test = 'JSONPatch{op: "test", path: "/data/a", value: "b"}';
    const spec = { mutations: [json(`[${test}, ${add}]`)] };
    await withPolicies({ json: { spec } }, async () => {
      const labels = async (data: object) =>
        (await dry<ConfigMap>(configMap('two', data, { own: 'yes' }))).metadata.labels;
      assert.deepEqual(await labels({ a: 'b' }), { own: 'yes', 'a.b/c': 'x' });
      assert.deepEqual(await labels({ a: 'c' }), { own: 'yes' });
    });
  });

  it('applies its mutations in their order, each to the result of the one before', async () => {
    const count = json(
      'has(object.data) ? [JSONPatch{op: "add", path: "/data/n", value: object.data.n + "i"}] : []',
    );
    const spec = { variables: [{ name: 'n', expression: 'object.data.n' }], mutations: [count, count] };
    await withPolicies({ count: { spec } }, async () => {
      assert.deepEqual((await dry<ConfigMap>(configMap('three', { n: '' }))).data, { n: 'ii' });
    });
  });

  it('sees requests by its match conditions, with variables, parameters, the namespace and the authorizer', async () => {
    const limits = configMap('limits', { suffix: '-x' }, { for: 'policies' });
    assert.equal((await post(limits)).status, 201);
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'wanted', expression: "object.metadata.name.startsWith('wanted')" }],
      variables: [
        { name: 'space', expression: 'namespaceObject.metadata.name' },
        { name: 'name', expression: 'variables.space + params.data.suffix' },
      ],
      mutations: [
        label('made', 'variables.name'),
        apply(`Object{metadata: Object.metadata{?labels:
          authorizer.group('').resource('secrets').check('get').allowed()
            ? optional.of({"may": "yes"}) : optional.none()}}`),
      ],
    };
    const bound = { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } };
    await withPolicies({ params: { spec, bound } }, async () => {
      const { metadata } = await dry<ConfigMap>(configMap('wanted'));
      assert.deepEqual(metadata.labels, { made: 'default-x', may: 'yes' });
      assert.equal((await dry<ConfigMap>(configMap('other'))).metadata.labels, undefined);
    });
    const selected = {
      paramRef: { selector: { matchLabels: { for: 'nobody' } }, parameterNotFoundAction: 'Deny' },
    };
    await withPolicies({ params: { spec, bound: selected } }, async () => {
      assert.deepEqual(await refusal(configMap('wanted')), {
        status: 403,
        reason: 'Invalid',
        message:
          "policy 'params' with binding 'params' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
      });
    });
    const allowed = { paramRef: { ...selected.paramRef, parameterNotFoundAction: 'Allow' } };
    await withPolicies({ params: { spec, bound: allowed } }, async () => {
      assert.equal((await dry<ConfigMap>(configMap('wanted'))).metadata.labels, undefined);
    });
    assert.equal((await server.call('DELETE', `${path}/limits`)).status, 200);
  });

  it('is called once more after a later change only with the reinvocation policy IfNeeded', async () => {
    const append = (letter: string) =>
      json(`[JSONPatch{op: "replace", path: "/data/n", value: object.data.n + "${letter}"}]`);
    const policies = (again: string) => ({
      first: { spec: { mutations: [append('a')], reinvocationPolicy: again } },
      second: { spec: { mutations: [append('b')] } },
    });
    await withPolicies(policies('Never'), async () => {
      assert.deepEqual((await dry<ConfigMap>(configMap('four', { n: '' }))).data, { n: 'ab' });
    });
    await withPolicies(policies('IfNeeded'), async () => {
      assert.deepEqual((await dry<ConfigMap>(configMap('four', { n: '' }))).data, { n: 'aba' });
    });
  });

  it('changes before ValidatingAdmissionPolicies see the request', async () => {
    const validating = [
      [
        'validatingadmissionpolicies',
        {
          ...policy('guard', {}),
          kind: 'ValidatingAdmissionPolicy',
          spec: { matchConstraints: configMaps, validations: [{ expression: "object.data.a != 'bad'" }] },
        },
      ],
      [
        'validatingadmissionpolicybindings',
        {
          ...binding('guard', { validationActions: ['Deny'] }),
          kind: 'ValidatingAdmissionPolicyBinding',
        },
      ],
    ] as const;
    for (const [plural, object] of validating)
      assert.equal((await server.call('POST', `${group}/${plural}`, object)).status, 201);
    const spec = { mutations: [apply('Object{data: {"a": "bad"}}')] };
    await withPolicies({ spoil: { spec } }, async () => {
      await server.call('GET', `${group}/validatingadmissionpolicybindings`);
      assert.match(
        (await refusal(configMap('five', { a: 'good' }))).message,
        /failed expression: object\.data/,
      );
    });
    for (const [plural] of validating)
      assert.equal((await server.call('DELETE', `${group}/${plural}/guard`)).status, 200);
  });

  it('changes a Scale that a client sends', async () => {
    assert.equal((await server.call('POST', deploymentPath, deployment())).status, 201);
    const spec = {
      matchConstraints: ruleFor('apps', 'deployments/scale'),
      mutations: [
        apply('Object{spec: Object.spec{replicas: object.spec.replicas > 3 ? 3 : object.spec.replicas}}'),
      ],
    };
    await withPolicies({ scale: { spec } }, async () => {
      const scale = {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'web' },
        spec: { replicas: 9 },
      };
      const answer = await server.call('PUT', `${deploymentPath}/web/scale`, scale);
      assert.equal(answer.status, 200, answer.text);
      const { spec: stored } = (await server.call('GET', `${deploymentPath}/web`)).json<Pods>();
      assert.equal(stored.replicas, 3);
    });
    assert.equal((await server.call('DELETE', `${deploymentPath}/web`)).status, 200);
  });
});

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
        'patches a path that is not there',
        json('[JSONPatch{op: "remove", path: "/data/none"}]'),
        /JSON Patch: remove operation does not apply: doc is missing path: \/data\/none/,
      ],
      [
        'is an unknown operation',
        json('[JSONPatch{op: "grow", path: "/data"}]'),
        /JSON Patch: error decoding patch: operation 0: unknown op "grow"/,
      ],
      [
        'makes a value that is too large',
        apply(
          `Object{data: {"a": "${'x'.repeat(100)}".replace("x", "${'y'.repeat(200)}").replace("y", "${'z'.repeat(200)}")}}`,
        ),
        /actual cost limit exceeded|more than 3145728 characters|RequestEntityTooLarge/,
      ],
    ];
  for (const [title, mutation, problem] of problems)
    it(`${title}: refuses the request, unless the policy ignores failures`, async () => {
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

  it('cannot change identity: name, namespace, kind and version, uid and managers of fields stay', async () => {
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

  it('to requests that store no object: one that a policy would change is refused, and others pass', async () => {
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

it('v1beta1 and v1alpha1 serve the same policies, which are stored as v1', async () => {
  for (const version of ['v1beta1', 'v1alpha1']) {
    const base = `/apis/admissionregistration.k8s.io/${version}`;
    const sent = policy('old', { mutations: [label('version', `"${version}"`)] }, version);
    const made = await server.call('POST', `${base}/mutatingadmissionpolicies`, sent);
    assert.equal(made.status, 201, made.text);
    assert.equal(made.json<{ apiVersion: string }>().apiVersion, `admissionregistration.k8s.io/${version}`);
    const bound = await server.call(
      'POST',
      `${base}/mutatingadmissionpolicybindings`,
      binding('old', {}, version),
    );
    assert.equal(bound.status, 201, bound.text);
    const stored = (await server.call('GET', `${group}/mutatingadmissionpolicies/old`)).json<{
      apiVersion: string;
      spec: { failurePolicy: string; matchConstraints: { matchPolicy: string } };
    }>();
    assert.equal(stored.apiVersion, 'admissionregistration.k8s.io/v1');
    assert.deepEqual(
      [stored.spec.failurePolicy, stored.spec.matchConstraints.matchPolicy],
      ['Fail', 'Equivalent'],
    );
    await seen();
    assert.deepEqual((await dry<ConfigMap>(configMap('ten'))).metadata.labels, { version });
    for (const plural of ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'])
      assert.equal((await server.call('DELETE', `${base}/${plural}/old`)).status, 200);
  }
});

it('an object that its mutations make invalid is refused, and the stored one stays', async () => {
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

  it('cannot use them as parameters, and cannot change a policy that does', async () => {
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
