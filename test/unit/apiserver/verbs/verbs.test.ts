/** Verb of a method on a path for authorization, and whether a handler serves it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deploymentResource } from '../../../../src/api/apps/v1/deployment.ts';
import { selfSubjectAccessReviewResource } from '../../../../src/api/authorization/v1/self-subject-access-review.ts';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { parseRequestInfo, type ResourceRequest } from '../../../../src/apiserver/request/request-info.ts';
import { isDryRun, parseDryRun, type RequestScope } from '../../../../src/apiserver/request/request-scope.ts';
import { formsOf, handlerOf, verbOf } from '../../../../src/apiserver/verbs/verbs.ts';
import { kubeBehavior, subresourceAt } from '../../../fixtures/kind-behavior.ts';

const at = (path: string): ResourceRequest => {
  const info = parseRequestInfo(path);
  assert.ok(info.type === 'resource', path);
  return info;
};
const pods = '/api/v1/namespaces/a/pods';
const functions = '/apis/minik8s.io/v1/namespaces/a/functions';

describe('the verb of', () => {
  for (const [method, path, verb, watching = verb] of [
    ['GET', pods, 'list', 'watch'],
    ['GET', `${pods}/x`, 'get', 'watch'],
    ['GET', `${pods}/x/log`, 'get', 'get'],
    ['GET', `${pods}/x/proxy/y`, 'get', 'get'],
    ['HEAD', pods, 'list', 'watch'],
    ['HEAD', `${pods}/x`, 'get', 'watch'],
    ['POST', pods, 'create'],
    ['POST', `${pods}/x/eviction`, 'create'],
    ['PUT', `${pods}/x`, 'update'],
    ['PATCH', `${pods}/x`, 'patch'],
    ['DELETE', `${pods}/x`, 'delete'],
    ['DELETE', pods, 'deletecollection'],
    ['OPTIONS', `${pods}/x/proxy`, ''],
    ['OPTIONS', `${pods}/x/log`, undefined],
    ['GET', `${functions}/x/invoke/y`, 'create', 'create'],
    ['DELETE', `${functions}/x/invoke`, 'create'],
    ['OPTIONS', `${functions}/x/invoke`, 'create'],
    ['TRACE', `${functions}/x/invoke`, undefined],
    // No kind but those of calls is called.
    ['GET', `${pods}/x/invoke`, 'get', 'get'],
    ['OPTIONS', `${pods}/x`, undefined],
    ['OPTIONS', pods, undefined],
    ['TRACE', pods, undefined],
    ['get', pods, undefined],
  ] as const)
    test(`${method} ${path} is ${verb ?? 'none'}`, () => {
      assert.equal(verbOf(method, at(path), false, subresourceAt(path)), verb);
      assert.equal(verbOf(method, at(path), true, subresourceAt(path)), watching);
    });
});

describe('the resource that serves a request', () => {
  const kinds: Readonly<Record<string, unknown>> = {
    pods: podResource,
    nodes: nodeResource,
    configmaps: configMapResource,
    selfsubjectaccessreviews: selfSubjectAccessReviewResource,
  };
  const answer = (method: string, path: string) => {
    const info = at(path);
    try {
      handlerOf(method, kinds[info.plural] as ResourceDefinition, info, kubeBehavior);
      return 'served';
    } catch (error) {
      assert.ok(error instanceof StatusError, String(error));
      return error.status.code;
    }
  };
  const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  for (const [path, methods, otherwise] of [
    [pods, ['GET', 'HEAD', 'POST', 'DELETE'], 405],
    ['/api/v1/pods', ['GET', 'HEAD'], 405],
    [`${pods}/x`, ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'], 405],
    // An object of a namespaced kind has no path without its namespace.
    ['/api/v1/pods/x', [], 404],
    ['/api/v1/nodes', ['GET', 'HEAD', 'POST', 'DELETE'], 405],
    ['/api/v1/nodes/x', ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'], 405],
    ['/api/v1/namespaces/a/nodes', [], 404],
    ['/api/v1/namespaces/a/nodes/x', [], 404],
    [`${pods}/x/status`, ['GET', 'HEAD', 'PUT', 'PATCH'], 405],
    [`${pods}/x/eviction`, ['POST'], 405],
    [`${pods}/x/log`, ['GET', 'HEAD'], 405],
    [`${pods}/x/log/`, ['GET', 'HEAD'], 405],
    [`${pods}/x/log/y`, [], 404],
    [`${pods}/x/proxy`, ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], 405],
    [`${pods}/x/proxy/y`, ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], 405],
    [`${pods}/x/none`, [], 404],
    [`${pods}/x/toString`, [], 404],
    ['/api/v1/pods/x/log', [], 404],
    ['/api/v1/namespaces/a/configmaps/x/status', [], 404],
    [reviews, ['POST'], 405],
    [`${reviews}/x`, [], 404],
  ] as const)
    test(`serves ${methods.join(', ') || 'no method'} at ${path}`, () => {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const expected = methods.some((one) => one === method) ? 'served' : otherwise;
        assert.equal(answer(method, path), expected, method);
      }
    });

  test('gets the requested name', () => {
    assert.throws(
      () =>
        handlerOf('GET', podResource as unknown as ResourceDefinition, at(`${pods}/x/none`), kubeBehavior),
      (error) =>
        error instanceof StatusError &&
        error.status.details?.kind === 'pods/none' &&
        error.status.code === 404,
    );
  });

  test('gets its group', () => {
    const definition = deploymentResource as unknown as ResourceDefinition;
    const path = '/apis/apps/v1/namespaces/a/deployments/x/none';
    assert.throws(
      () => handlerOf('GET', definition, at(path), kubeBehavior),
      (error) => error instanceof StatusError && error.status.details?.group === 'apps',
    );
  });

  test('answers in the requested format, unless it answers with bytes', async () => {
    /** Returns the name of the field of the scope that a handler reads first. */
    const firstOf = async (path: string) => {
      const info = at(path);
      const handle = handlerOf('GET', kinds[info.plural] as ResourceDefinition, info, kubeBehavior);
      const scope = new Proxy({} as RequestScope, {
        get(_, name) {
          throw new Error(String(name));
        },
      });
      return (await Promise.try(handle, scope).catch((error: Error) => error.message)) as string;
    };
    for (const path of [pods, `${pods}/x`, `${pods}/x/status`])
      assert.equal(await firstOf(path), 'encoder', path);
    for (const part of ['log', 'exec', 'attach', 'portforward', 'proxy'])
      assert.notEqual(await firstOf(`${pods}/x/${part}`), 'encoder', part);
  });

  test('offers tables if it answers with objects of its kind', () => {
    const forms = (path: string) => {
      const info = at(path);
      return formsOf(kinds[info.plural] as ResourceDefinition, info, kubeBehavior);
    };
    for (const path of [pods, `${pods}/x`, `${pods}/x/status`, `${pods}/x/none`])
      assert.equal(forms(path), undefined, path);
    for (const path of [`${pods}/x/eviction`, `${pods}/x/binding`, reviews])
      assert.deepEqual(forms(path), ['object'], path);
  });
});

test('a dry run is requested in the query or the options of the verb', () => {
  const scopeOf = (query: string) => ({ query: new URLSearchParams(query) }) as RequestScope;
  assert.equal(isDryRun(scopeOf('dryRun=All'), 'PatchOptions'), true);
  assert.equal(isDryRun(scopeOf('dryrun=All'), 'PatchOptions'), false);
  assert.throws(
    () => isDryRun(scopeOf('dryRun=x'), 'PatchOptions'),
    (error) => {
      const { kind, group } = (error as StatusError).status.details ?? {};
      assert.deepEqual([group, kind], ['meta.k8s.io', 'PatchOptions']);
      return true;
    },
  );
});

test('a dry run is requested with All and nothing else', () => {
  const kind = { group: 'meta.k8s.io', kind: 'UpdateOptions' };
  for (const [values, dry] of [
    [[], false],
    [[''], false],
    [['All'], true],
    [['', 'All'], true],
  ] as const)
    assert.equal(parseDryRun(values, kind), dry);
  for (const values of [['all'], ['All', 'Some'], ['false']])
    assert.throws(
      () => parseDryRun(values, kind),
      (error) =>
        error instanceof StatusError &&
        error.status.code === 422 &&
        /^UpdateOptions.* "" is invalid: dryRun: .*: "All"$/.test(error.message),
    );
});
