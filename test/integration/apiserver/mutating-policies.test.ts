/** MutatingAdmissionPolicies change requests as Kubernetes’ do. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  apply,
  binding,
  type ConfigMap,
  configMap,
  configMaps,
  dry,
  group,
  json,
  label,
  path,
  policy,
  post,
  refusal,
  ruleFor,
  seen,
  serveMutatingPolicies,
  server,
  withPolicies,
} from './mutating-policy-server.ts';

serveMutatingPolicies();

const deployments = ruleFor('apps', 'deployments');

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

  it('applies its mutations in order, each to the result of the previous one', async () => {
    const count = json(
      'has(object.data) ? [JSONPatch{op: "add", path: "/data/n", value: object.data.n + "i"}] : []',
    );
    const spec = { variables: [{ name: 'n', expression: 'object.data.n' }], mutations: [count, count] };
    await withPolicies({ count: { spec } }, async () => {
      assert.deepEqual((await dry<ConfigMap>(configMap('three', { n: '' }))).data, { n: 'ii' });
    });
  });

  it('evaluates requests with match conditions, variables, parameters, the namespace and the authorizer', async () => {
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

  it('changes a request before ValidatingAdmissionPolicies evaluate it', async () => {
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

it('is stored as v1, and also served as v1beta1 and v1alpha1', async () => {
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
