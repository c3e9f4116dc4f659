/** ValidatingAdmissionPolicies reject and accept requests and return warnings, as in Kubernetes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import {
  binding,
  configMap,
  create,
  group,
  policy,
  server,
  serveValidatingPolicies,
} from './validating-policy-server.ts';

serveValidatingPolicies();

/** Creates a policy and its binding, and removes both afterwards. */
async function withPolicy(name: string, spec: object, bound: object, body: () => Promise<void>) {
  const made = await create('validatingadmissionpolicies', policy(name, spec));
  assert.equal(made.status, 201, made.text);
  const bindingMade = await create('validatingadmissionpolicybindings', binding(name, bound));
  assert.equal(bindingMade.status, 201, bindingMade.text);
  await seen();
  try {
    await body();
  } finally {
    for (const plural of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'])
      assert.equal((await server.call('DELETE', `${group}/${plural}/${name}`)).status, 200);
    await seen();
  }
}

/** Lists wait until the cache is as new as the store, so the server has seen all earlier writes. */
async function seen() {
  for (const plural of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'])
    assert.equal((await server.call('GET', `${group}/${plural}`)).status, 200);
}

const post = (object: object, namespace = 'default') =>
  server.call('POST', `/api/v1/namespaces/${namespace}/configmaps`, object);

describe('a ValidatingAdmissionPolicy', () => {
  it('refuses requests that do not satisfy its expression, with its message', async () => {
    const validations = [
      { expression: "object.data.size != 'huge'", message: 'too big', reason: 'Forbidden' },
    ];
    await withPolicy('size', { validations }, {}, async () => {
      const refused = await post(configMap('one', { size: 'huge' }));
      assert.equal(refused.status, 403);
      assert.deepEqual(
        [refused.json<Status>().reason, refused.json<Status>().message],
        [
          'Forbidden',
          `configmaps "one" is forbidden: ValidatingAdmissionPolicy 'size' with binding 'size' denied request: too big`,
        ],
      );
      assert.equal((await post(configMap('one', { size: 'small' }))).status, 201);
      const update = await server.call(
        'PUT',
        '/api/v1/namespaces/default/configmaps/one',
        configMap('one', { size: 'huge' }),
      );
      assert.equal(update.status, 403);
      assert.equal((await server.call('DELETE', '/api/v1/namespaces/default/configmaps/one')).status, 200);
    });
    assert.equal((await post(configMap('two', { size: 'huge' }))).status, 201);
  });

  it('quotes an expression that fails, and ignores it with the failure policy Ignore', async () => {
    const validations = [{ expression: "object.data.missing == 'x'" }];
    await withPolicy('failing', { validations }, {}, async () => {
      const refused = await post(configMap('three', { other: 'x' }));
      assert.equal(refused.status, 422);
      assert.match(
        String(refused.json<Status>().message),
        /denied request: expression 'object\.data\.missing == 'x'' resulted in error: no such key: missing$/,
      );
    });
    await withPolicy('failing', { validations, failurePolicy: 'Ignore' }, {}, async () => {
      assert.equal((await post(configMap('three', { other: 'x' }))).status, 201);
    });
  });

  it('evaluates variables when they are read, match conditions first, and makes messages', async () => {
    const spec = {
      matchConditions: [{ name: 'team', expression: 'has(object.metadata.labels)' }],
      variables: [
        { name: 'size', expression: 'int(object.data.size)' },
        { name: 'limit', expression: "object.metadata.labels.team == 'big' ? 100 : variables.size - 1" },
      ],
      validations: [
        {
          expression: 'variables.size <= variables.limit',
          messageExpression:
            "'size ' + string(variables.size) + ' of ' + request.name + ' by ' + request.userInfo.username",
        },
      ],
    };
    await withPolicy('variables', spec, {}, async () => {
      assert.equal((await post(configMap('four', { size: 'none' }))).status, 201);
      assert.equal((await post(configMap('five', { size: '12' }, { team: 'big' }))).status, 201);
      const refused = await post(configMap('six', { size: '12' }, { team: 'small' }));
      assert.match(String(refused.json<Status>().message), /denied request: size 12 of six by \S+$/);
      const failed = await post(configMap('six', { size: 'x' }, { team: 'small' }));
      assert.match(String(failed.json<Status>().message), /composited variable "size" fails to evaluate: /);
    });
  });

  it('warns instead of refusing, and applies only where its binding selects', async () => {
    const validations = [{ expression: 'false', message: 'never' }];
    await withPolicy('warning', { validations }, { validationActions: ['Warn'] }, async () => {
      const { status, headers } = await post(configMap('seven'));
      assert.equal(status, 201);
      assert.match(
        String(headers.get('warning')),
        /Validation failed for ValidatingAdmissionPolicy 'warning' with binding 'warning': never/,
      );
    });
    const elsewhere = { matchResources: { namespaceSelector: { matchLabels: { strict: 'yes' } } } };
    await withPolicy('elsewhere', { validations }, elsewhere, async () => {
      assert.equal((await post(configMap('eight'))).status, 201);
      const strict = {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'strict', labels: { strict: 'yes' } },
      };
      assert.equal((await server.call('POST', '/api/v1/namespaces', strict)).status, 201);
      assert.equal((await post(configMap('eight'), 'strict')).status, 422);
    });
  });

  it('has parameters, and refuses requests while they are missing', async () => {
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'others', expression: "request.name != 'limits'" }],
      validations: [{ expression: 'int(object.data.size) <= int(params.data.most)' }],
    };
    const paramRef = { name: 'limits', namespace: 'default', parameterNotFoundAction: 'Deny' };
    await withPolicy('parameters', spec, { paramRef }, async () => {
      const missing = await post(configMap('nine', { size: '3' }));
      assert.match(
        String(missing.json<Status>().message),
        /failed to configure binding: no params found for policy binding with `Deny`/,
      );
      assert.equal(
        (await server.call('DELETE', `${group}/validatingadmissionpolicybindings/parameters`)).status,
        200,
      );
      assert.equal((await post(configMap('limits', { most: '2' }))).status, 201);
      assert.equal(
        (await create('validatingadmissionpolicybindings', binding('parameters', { paramRef }))).status,
        201,
      );
      assert.equal((await post(configMap('nine', { size: '3' }))).status, 422);
      assert.equal((await post(configMap('nine', { size: '2' }))).status, 201);
    });
  });

  it('gets objects in the version of the rule that matched', async () => {
    const matchConstraints = {
      resourceRules: [
        {
          apiGroups: ['autoscaling'],
          apiVersions: ['v1'],
          operations: ['CREATE'],
          resources: ['horizontalpodautoscalers'],
        },
      ],
    };
    const validations = [
      {
        expression:
          "object.apiVersion == 'autoscaling/v1' && request.requestKind.version == 'v2' && request.kind.version == 'v1'",
      },
    ];
    await withPolicy('versions', { matchConstraints, validations }, {}, async () => {
      const autoscaler = {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'one' },
        spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
      };
      const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
      const made = await server.call('POST', path, autoscaler);
      assert.equal(made.status, 201, made.text);
    });
  });

  it('lets expressions query the authorizer about the user of the request', async () => {
    const expression = "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()";
    await withPolicy('rights', { validations: [{ expression }] }, {}, async () => {
      assert.equal((await post(configMap('ten'))).status, 201);
      const user = { name: 'eve', groups: ['system:authenticated'] };
      const role = {
        metadata: { name: 'maps' },
        rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }],
      };
      const subjects = [{ kind: 'User', name: 'eve', apiGroup: 'rbac.authorization.k8s.io' }];
      const roleRef = { kind: 'Role', name: 'maps', apiGroup: 'rbac.authorization.k8s.io' };
      const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
      assert.equal((await server.call('POST', `${rbac}/roles`, role)).status, 201);
      const bound = { metadata: { name: 'maps' }, subjects, roleRef };
      assert.equal((await server.call('POST', `${rbac}/rolebindings`, bound)).status, 201);
      const path = '/api/v1/namespaces/default/configmaps';
      const refused = await server.call('POST', path, configMap('eleven'), { user });
      assert.match(
        String(refused.json<Status>().message),
        /'rights' with binding 'rights' denied request: failed expression: /,
      );
    });
  });

  it('is evaluated for connections to pods', async () => {
    const matchConstraints = {
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/exec'] },
      ],
    };
    const validations = [{ expression: "object.container == 'main'", message: 'only main' }];
    await withPolicy('exec', { matchConstraints, validations }, {}, async () => {
      const pod = {
        metadata: { name: 'web' },
        spec: {
          containers: [
            { name: 'main', image: 'a' },
            { name: 'side', image: 'b' },
          ],
        },
      };
      assert.equal((await server.call('POST', '/api/v1/namespaces/default/pods', pod)).status, 201);
      const exec = (container: string) =>
        server.call('POST', `/api/v1/namespaces/default/pods/web/exec?command=sh&container=${container}`);
      assert.match((await exec('side')).text, /denied request: only main/);
      assert.doesNotMatch((await exec('main')).text, /denied request/);
    });
  });

  it('cannot refuse its own removal', async () => {
    const everything = {
      resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
    };
    await withPolicy(
      'everything',
      { matchConstraints: everything, validations: [{ expression: 'false' }] },
      {},
      async () => {
        assert.equal(
          (await server.call('DELETE', '/api/v1/namespaces/default/configmaps/seven')).status,
          422,
        );
      },
    );
  });
});
