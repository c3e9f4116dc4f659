/** ValidatingAdmissionPolicies with many parameters, with errors, and written by a user with few rights. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { startTestServer } from '../../fixtures/api-server.ts';
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

describe('a policy that is evaluated for many parameters', () => {
  it('lets other requests proceed between two evaluations', async () => {
    const slow = await startTestServer({ clock: systemClock });
    try {
      const send = async (path: string, object: object) => {
        const answer = await slow.call('POST', path, object);
        assert.equal(answer.status, 201, answer.text);
      };
      const maps = '/api/v1/namespaces/default/configmaps';
      for (let index = 0; index < 12; index++)
        await send(maps, configMap(`parameters-${index}`, {}, { parameters: 'yes' }));
      const spec = {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        validations: [{ expression: 'object.data.all(a, object.data.all(b, a != "zz"))' }],
      };
      const paramRef = { selector: { matchLabels: { parameters: 'yes' } }, parameterNotFoundAction: 'Deny' };
      await send(`${group}/validatingadmissionpolicies`, policy('slow', spec));
      await send(`${group}/validatingadmissionpolicybindings`, binding('slow', { paramRef }));
      assert.equal((await slow.call('GET', `${group}/validatingadmissionpolicybindings`)).status, 200);
      let turns = 0;
      let ended = false;
      const count = () => {
        turns++;
        if (!ended) setImmediate(count);
      };
      const data = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`key${index}`, 'x']));
      const writing = send(maps, configMap('large', data));
      setImmediate(count);
      await writing.finally(() => {
        ended = true;
      });
      assert.ok(turns >= 6, `the event loop had ${turns} turns during twelve evaluations`);
    } finally {
      await slow.stop();
    }
  });
});

describe('the validation of a policy', () => {
  const refusalOf = async (spec: object) => {
    const answer = await create('validatingadmissionpolicies', policy('wrong', spec));
    assert.equal(answer.status, 422, answer.text);
    return String(answer.json<Status>().message);
  };

  it('refuses expressions that do not compile, or have the wrong type', async () => {
    assert.match(
      await refusalOf({ validations: [{ expression: 'object.x ==' }] }),
      /spec\.validations\[0\]\.expression: Invalid value: "object\.x ==": compilation failed: ERROR: <input>:1:\d+: /,
    );
    assert.match(
      await refusalOf({ validations: [{ expression: '1 + 1' }] }),
      /spec\.validations\[0\]\.expression: Invalid value: "1 \+ 1": must evaluate to bool but got int/,
    );
    assert.match(
      await refusalOf({ validations: [{ expression: 'params.x == 1' }] }),
      /undeclared reference to 'params'/,
    );
    assert.match(
      await refusalOf({ validations: [{ expression: 'request.wrong == 1' }] }),
      /undefined field 'wrong'/,
    );
  });
});

describe('a user who may write policies, but not read all Secrets', () => {
  const author = { name: 'author', groups: ['system:authenticated'] };
  const as = (method: string, path: string, object: object) =>
    server.call(method, path, object, { user: author });
  const patch = (path: string, change: object) =>
    server.call('PATCH', path, change, {
      user: author,
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  const secrets = { paramKind: { apiVersion: 'v1', kind: 'Secret' } };
  const leak = { validations: [{ expression: 'false', messageExpression: 'string(params.data.a)' }] };
  const grant = async (name: string, rules: object[]) => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const role = await server.call('POST', `${rbac}/clusterroles`, { metadata: { name }, rules });
    assert.equal(role.status, 201, role.text);
    const bound = await server.call('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: author.name }],
    });
    assert.equal(bound.status, 201, bound.text);
  };
  const paramRef = { name: 's', namespace: 'kube-system', parameterNotFoundAction: 'Deny' };

  before(async () => {
    const resources = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'];
    await grant('policies', [{ apiGroups: ['admissionregistration.k8s.io'], resources, verbs: ['*'] }]);
    await create('validatingadmissionpolicies', policy('of-admin', { ...secrets, ...leak }));
  });

  it('cannot use them as parameters, and cannot change the parameters of a policy', async () => {
    const made = await as(
      'POST',
      `${group}/validatingadmissionpolicies`,
      policy('own', { ...secrets, ...leak }),
    );
    assert.equal(made.status, 422, made.text);
    assert.match(made.text, /spec.paramKind: Forbidden: user .*must have .*get.* permission on all objects/);
    const bindings = `${group}/validatingadmissionpolicybindings`;
    for (const name of ['of-admin', 'no-policy-yet']) {
      const bound = await as('POST', bindings, binding(name, { paramRef }));
      assert.equal(bound.status, 422, bound.text);
      assert.match(bound.text, /spec.paramRef: Forbidden: user .*does not have .*get.* permission/);
    }
    const without = await as('POST', bindings, binding('of-admin'));
    assert.equal(without.status, 201, without.text);
    const changed = await patch(`${bindings}/of-admin`, { spec: { paramRef } });
    assert.match(changed.text, /spec.paramRef: Forbidden/);
  });

  it('can use them as parameters once the user may read them', async () => {
    await grant('secrets', [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]);
    await server.call('GET', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings');
    const made = await as(
      'POST',
      `${group}/validatingadmissionpolicies`,
      policy('own', { ...secrets, ...leak }),
    );
    assert.equal(made.status, 201, made.text);
    const bindings = `${group}/validatingadmissionpolicybindings`;
    assert.equal((await as('POST', bindings, binding('own', { paramRef }))).status, 201);
    const listed = { paramRef: { name: null, selector: {} } };
    const selected = await patch(`${bindings}/own`, { spec: listed });
    assert.match(selected.text, /does not have .*list.* permission/);
  });
});
