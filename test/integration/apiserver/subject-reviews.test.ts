/** Reviews of a user's access, and of a user's identity. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { unionAuthenticator } from '../../../src/apiserver/authentication/authenticator.ts';
import { bearerTokenAuthenticator } from '../../../src/apiserver/authentication/bearer-token.ts';
import { clientCertificateAuthenticator } from '../../../src/apiserver/authentication/client-certificate.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const group = '/apis/authorization.k8s.io/v1';
const everywhere = `${group}/subjectaccessreviews`;
const inPlace = (namespace: string) => `${group}/namespaces/${namespace}/localsubjectaccessreviews`;
const known = 'system:authenticated';
const bob: UserInfo = { name: 'bob', uid: 'u2', groups: ['staff', known] };
const node: UserInfo = { name: 'system:node:n1', groups: ['system:nodes', known] };

interface Review {
  readonly metadata: object;
  readonly spec: object;
  readonly status: Readonly<Record<string, unknown>>;
}

describe('reviews about other users', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  });
  after(() => server.stop());

  const pods = { verb: 'list', resource: 'pods', namespace: 'default' };
  const own = { verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' };
  const rows: readonly [string, object, boolean][] = [
    ['bob, pods', { user: 'bob', groups: [known], resourceAttributes: pods }, false],
    ['an administrator, pods', { user: 'ann', groups: ['system:masters'], resourceAttributes: pods }, true],
    ['a group alone', { groups: ['system:masters'], resourceAttributes: pods }, true],
    ['a user of that name', { user: 'system:masters', resourceAttributes: pods }, false],
    ['bob, his own review', { user: 'bob', groups: [known], resourceAttributes: own }, true],
    ['bob, who is not authenticated', { user: 'bob', resourceAttributes: own }, false],
    [
      'bob, discovery',
      { user: 'bob', groups: [known], nonResourceAttributes: { verb: 'get', path: '/api' } },
      true,
    ],
    [
      'a node, its own Node',
      {
        user: 'system:node:n1',
        groups: ['system:nodes', known],
        resourceAttributes: { verb: 'get', resource: 'nodes', name: 'n1' },
      },
      true,
    ],
    [
      'a node, another Node',
      {
        user: 'system:node:n1',
        groups: ['system:nodes', known],
        resourceAttributes: { verb: 'patch', resource: 'nodes', name: 'n2' },
      },
      false,
    ],
  ];
  for (const [what, spec, allowed] of rows)
    it(`answer ${allowed} for ${what}`, async () => {
      const answer = await server.call('POST', everywhere, { spec });
      assert.equal(answer.status, 201, answer.text);
      const { metadata, ...review } = answer.json<Review>();
      assert.deepEqual(metadata, { creationTimestamp: null });
      const { reason, ...status } = review.status as { reason?: string; allowed: boolean };
      assert.deepEqual([review.spec, status], [spec, { allowed }]);
      assert.equal(reason !== undefined, allowed && what.startsWith('bob'), reason ?? 'no reason');
    });

  it('may be about a namespace that does not exist', async () => {
    const ask = (spec: object, metadata = {}) => server.call('POST', inPlace('none'), { metadata, spec });
    const spec = {
      user: 'ann',
      groups: ['system:masters'],
      resourceAttributes: { ...pods, namespace: 'none' },
    };
    const answer = await ask(spec);
    assert.equal(answer.status, 201, answer.text);
    const { metadata, status } = answer.json<Review>();
    assert.deepEqual(metadata, { namespace: 'none', creationTimestamp: null });
    assert.deepEqual(status, { allowed: true });
    assert.equal((await ask({ ...spec, groups: [] })).json<Review>().status.allowed, false);

    const elsewhere = await ask(spec, { namespace: 'other' });
    assert.equal(elsewhere.status, 400, elsewhere.text);
    const causes = (refused: { json<T>(): T }) =>
      refused.json<Status>().details?.causes?.map(({ field, message }) => `${field}: ${message}`);
    assert.deepEqual(causes(await ask({ ...spec, resourceAttributes: pods })), [
      'spec.resourceAttributes.namespace: Invalid value: "default": must match metadata.namespace',
    ]);
    const path = { user: 'ann', nonResourceAttributes: { verb: 'get', path: '/' } };
    assert.deepEqual(causes(await ask(path)), [
      'spec.nonResourceAttributes: Invalid value: {"verb":"get","path":"/"}: disallowed on this kind of request',
    ]);
    assert.match(causes(await ask(spec, { name: 'a' }))?.join() ?? '', /must be empty except for namespace$/);
    const nowhere = await server.call('POST', `${group}/localsubjectaccessreviews`, { spec });
    assert.equal(nowhere.status, 404, nowhere.text);
  });

  it('require a user or a group', async () => {
    const answer = await server.call('POST', everywhere, { spec: { resourceAttributes: pods } });
    assert.equal(answer.status, 422);
    assert.match(
      answer.text,
      /spec\.user: Invalid value: .*: at least one of user or group must be specified/,
    );
  });

  it('are only for administrators, and for nodes about their own clients', async () => {
    const spec = { user: 'bob', resourceAttributes: pods };
    const tokens = '/apis/authentication.k8s.io/v1/tokenreviews';
    for (const [path, body] of [
      [everywhere, { spec }],
      [inPlace('default'), { spec }],
      [tokens, { spec: { token: 'a' } }],
    ] as const)
      for (const user of [bob, node]) {
        const answer = await server.call('POST', path, body, { user });
        assert.equal(answer.status, user === node ? 201 : 403, `${path}: ${answer.text}`);
      }
  });
});

describe('a SelfSubjectRulesReview', () => {
  let server: TestServer;
  let extended: TestServer;
  before(async () => {
    server = await startTestServer();
    extended = await startTestServer({ authorize: () => false });
  });
  after(() => Promise.all([server.stop(), extended.stop()]));

  interface Rules {
    readonly resourceRules: { verbs: string[]; apiGroups: string[]; resources: string[] }[];
    readonly nonResourceRules: { verbs: string[]; nonResourceURLs: string[] }[];
    readonly incomplete: boolean;
    readonly evaluationError?: string;
  }
  const ask = async (user: UserInfo, at = server) => {
    const answer = await at.call(
      'POST',
      `${group}/selfsubjectrulesreviews`,
      { spec: { namespace: 'default' } },
      { user },
    );
    assert.equal(answer.status, 201, answer.text);
    return answer.json<{ spec: object; status: Rules }>();
  };

  it('lists the rules of a user without a role of their own', async () => {
    const { spec, status } = await ask(bob);
    assert.deepEqual(spec, {});
    assert.deepEqual(status.resourceRules, [
      {
        verbs: ['create'],
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    ]);
    assert.equal(status.incomplete, false);
    assert.equal(status.evaluationError, undefined);
  });

  it('lists exactly the allowed actions', async () => {
    const { status } = await ask(bob);
    const attempts = status.resourceRules.flatMap(({ apiGroups, resources, verbs }) =>
      resources.map((resource) => ({
        resourceAttributes: { group: apiGroups[0], resource, verb: verbs[0] },
      })),
    );
    const paths = status.nonResourceRules.flatMap(({ nonResourceURLs, verbs }) =>
      nonResourceURLs.map((url) => ({
        nonResourceAttributes: { path: url.replace('*', 'x/y'), verb: verbs[0] },
      })),
    );
    assert.ok(paths.length > 10 && attempts.length === 3);
    for (const spec of [...attempts, ...paths]) {
      const answer = await server.call('POST', `${group}/selfsubjectaccessreviews`, { spec }, { user: bob });
      assert.equal(answer.json<Review>().status.allowed, true, JSON.stringify(spec));
    }
  });

  it('lists everything of an administrator', async () => {
    const { status } = await ask({ name: 'ann', groups: ['system:masters', known] }, extended);
    assert.deepEqual(status.resourceRules[0], { verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
    assert.deepEqual(status.nonResourceRules[0], { verbs: ['*'], nonResourceURLs: ['*'] });
    assert.equal(status.incomplete, false);
  });

  it('reports if the list is incomplete', async () => {
    const joining = { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers', known] };
    for (const [user, at] of [
      [node, server],
      [joining, server],
      [bob, extended],
    ] as const) {
      const { status } = await ask(user, at);
      assert.equal(status.incomplete, true, user.name);
      assert.equal(status.evaluationError, 'some rules depend on the object and are not listed');
    }
  });

  it('lists the rules for the requested namespace', async () => {
    const answer = await server.call('POST', `${group}/selfsubjectrulesreviews`, { spec: {} }, { user: bob });
    assert.deepEqual([answer.status, answer.json<Status>().message], [400, 'no namespace on request']);
  });
});

describe('reviews of identities', () => {
  const authentication = '/apis/authentication.k8s.io/v1';
  let server: TestServer;
  before(async () => {
    const user = { name: 'bob', uid: 'u2', groups: ['staff'], extra: { scopes: ['a', 'b'] } };
    const tokens = [
      { token: 'good', user },
      { token: 'over', user, expires: 1000 },
    ];
    server = await startTestServer({
      authenticate: unionAuthenticator([
        clientCertificateAuthenticator,
        bearerTokenAuthenticator(
          () => tokens,
          () => 1000,
        ),
      ]),
    });
  });
  after(() => server.stop());

  const review = async (spec: object, more: object = {}) => {
    const answer = await server.call('POST', `${authentication}/tokenreviews`, { ...more, spec });
    assert.equal(answer.status, 201, answer.text);
    return answer.json<Review>();
  };

  /** A token without an audience is for the API server. */
  const own = 'https://kubernetes.default.svc.cluster.local';

  it('return the user of a token', async () => {
    const metadata = { name: 'x', labels: { a: 'b' } };
    const found = await review({ token: 'good' }, { metadata, status: { error: 'mine' } });
    assert.deepEqual(found.metadata, { ...metadata, creationTimestamp: null });
    assert.deepEqual(found.spec, { token: 'good' });
    assert.deepEqual(found.status, {
      authenticated: true,
      user: { username: 'bob', uid: 'u2', groups: ['staff', known], extra: { scopes: ['a', 'b'] } },
      audiences: [own],
    });
    const asked = await review({ token: 'good', audiences: ['a', own] });
    assert.deepEqual(asked.status.audiences, [own], 'of those that were asked for');
  });

  it('return nothing about an invalid token', async () => {
    const refused = { user: {}, error: 'invalid bearer token' };
    const mine = { status: { authenticated: true, user: { username: 'root' } } };
    for (const token of ['bad', 'over', 'good bad', 'good\nx', ' ', 'Bearer good', 'x'.repeat(100_000)])
      assert.deepEqual((await review({ token }, mine)).status, refused, token.slice(0, 20));
    assert.deepEqual((await review({ token: 'good', audiences: ['a'] })).status, refused, 'for an audience');
    for (const body of [{}, { spec: {} }, { spec: { token: '' } }]) {
      const answer = await server.call('POST', `${authentication}/tokenreviews`, body);
      assert.deepEqual(
        [answer.status, answer.json<Status>().message],
        [400, 'token is required for TokenReview in authentication'],
      );
    }
  });

  it("return the caller's own user to all", async () => {
    const ask = (user: UserInfo, body: object = {}) =>
      server.call('POST', `${authentication}/selfsubjectreviews`, body, { user });
    const answer = await ask(bob, { metadata: { name: 'x' }, status: { userInfo: { username: 'root' } } });
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(answer.json<unknown>(), {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
      status: { userInfo: { username: 'bob', uid: 'u2', groups: ['staff', known] } },
    });
    const own = (await ask(node)).json<{ status: { userInfo: object } }>().status.userInfo;
    assert.deepEqual(own, { username: node.name, groups: node.groups });
  });

  it('are not stored', async () => {
    await review({ token: 'good' });
    for (const kind of ['tokenreviews', 'selfsubjectreviews', 'subjectaccessreviews'])
      assert.deepEqual((await server.store.list(`/registry/${kind}`)).items, []);
  });

  it('are in discovery with only the verb create', async () => {
    for (const [path, expected] of [
      [authentication, ['selfsubjectreviews', 'tokenreviews']],
      [
        group,
        [
          'localsubjectaccessreviews',
          'selfsubjectaccessreviews',
          'selfsubjectrulesreviews',
          'subjectaccessreviews',
        ],
      ],
    ] as const) {
      const { resources } = (await server.call('GET', path)).json<{
        resources: { name: string; verbs: string[]; namespaced: boolean }[];
      }>();
      assert.deepEqual(resources.map(({ name }) => name).sort(), expected);
      for (const { name, verbs, namespaced } of resources)
        assert.deepEqual([verbs, namespaced], [['create'], name.startsWith('local')], name);
      const { paths } = (await server.call('GET', `/openapi/v3${path}`)).json<{
        paths: Record<string, object>;
      }>();
      assert.deepEqual(
        Object.entries(paths)
          .map(([one, item]) => `${one} ${Object.keys(item)}`)
          .sort(),
        expected
          .map((name) => `${path}/${name.startsWith('local') ? 'namespaces/{namespace}/' : ''}${name} post`)
          .sort(),
      );
    }
  });
});
