/**
 * Cost of authorizing a request by roles with 10,000 bindings: half of them cluster-wide and half in one
 * namespace, all for other users. The requesting user has the usual few bindings, and requests something that
 * the last of them allows or that none allows. For comparison, the same decisions by scanning every binding,
 * without the index.
 */
import type { ClusterRoleBinding, RoleBinding } from '../../src/api/rbac/v1/types.gen.ts';
import type { AccessRequest, Authorizer } from '../../src/apiserver/authorization/authorizer.ts';
import type { UserInfo } from '../../src/apiserver/request/user.ts';
import { Turns } from '../../src/apiserver/turns.ts';
import { Policy } from '../../src/kube-apiserver/rbac/policy.ts';
import { rbacAuthorizer } from '../../src/kube-apiserver/rbac/rbac-authorizer.ts';
import { CompiledRule, resourceQuestion } from '../../src/kube-apiserver/rbac/rule-match.ts';
import { startTestServer, type TestServer } from '../fixtures/api-server.ts';
import { type Benchmark, median, type Row, timed } from './report.ts';

const bindings = 10_000;
const decisions = 10_000;
const scans = 20;
const group = 'rbac.authorization.k8s.io';
const path = (resource: string, namespace = '') =>
  `/apis/${group}/v1/${namespace && `namespaces/${namespace}/`}${resource}`;
const user: UserInfo = {
  name: 'ann',
  groups: ['team-a', 'team-b', 'system:authenticated'],
};

async function fill({ call }: TestServer): Promise<void> {
  await call('POST', '/api/v1/namespaces', { metadata: { name: 'team' } });
  const subject = (kind: string, name: string) => ({ kind, name, apiGroup: group });
  const bind = (place: string, name: string, role: string, who: object) =>
    call('POST', place, {
      metadata: { name },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
      subjects: [who],
    });
  const [everywhere, here] = [path('clusterrolebindings'), path('rolebindings', 'team')];
  for (let i = 0; i < bindings; i++)
    await bind(i % 2 ? everywhere : here, `b${i}`, 'system:aggregate-to-view', subject('User', `user-${i}`));
  await bind(everywhere, 'mine', 'system:aggregate-to-view', subject('Group', 'team-a'));
  await bind(here, 'ours', 'system:aggregate-to-edit', subject('Group', 'team-b'));
}

const asks = (verb: string): AccessRequest => ({
  type: 'resource',
  user,
  verb,
  group: 'coordination.k8s.io',
  resource: 'leases',
  namespace: 'team',
  name: 'x',
});

/** Returns an authorizer that scans every decoded binding, and the rules of the bindings that match. */
function scan({ cache }: TestServer): Authorizer {
  const all = [path('clusterrolebindings'), path('rolebindings')].flatMap((resource) =>
    cache.list(`/registry/${resource.split('/').at(-1)}.${group}/`).map(({ object }) => object),
  ) as (RoleBinding | ClusterRoleBinding)[];
  return (request) => {
    if (request.type === 'path') return false;
    const question = resourceQuestion(request.verb, request.group, request.resource, request.name);
    return all
      .filter(({ metadata: { namespace } }) => !namespace || namespace === request.namespace)
      .filter(({ subjects = [] }) =>
        subjects.some(({ kind, name }) =>
          kind === 'Group' ? user.groups.includes(name) : name === user.name,
        ),
      )
      .some(({ roleRef }) => {
        const role = cache.get(`/registry/clusterroles.${group}/${roleRef.name}`)?.object as
          | { rules?: ConstructorParameters<typeof CompiledRule>[0][] }
          | undefined;
        return role?.rules?.some((rule) => new CompiledRule(rule).allows(question));
      });
  };
}

/** Returns the microseconds per decision. */
async function cost(authorize: Authorizer, request: AccessRequest, count: number): Promise<number> {
  const times = await timed(5, async () => {
    for (let i = 0; i < count; i++) await authorize(request);
  });
  return (median(times) / count) * 1000;
}

export const access: Benchmark = {
  name: 'access',
  async run() {
    const server = await startTestServer();
    await fill(server);
    const { clock } = server;
    const parts = { clock, turns: new Turns(clock), policy: new Policy(server.cache) };
    const [indexed, scanned] = [rbacAuthorizer(parts), scan(server)];
    const rows: Row[] = [];
    for (const [what, verb] of [
      ['a request that a role allows', 'update'],
      ['a request that no role allows', 'sign'],
    ] as const) {
      const value = await cost(indexed, asks(verb), decisions);
      const floor = { what: 'a scan of all bindings', value: await cost(scanned, asks(verb), scans) };
      rows.push({
        what: `${what}, of ${bindings} bindings`,
        value,
        unit: 'µs',
        floor,
        target: '< 50',
        met: value < 50,
      });
    }
    await server.stop();
    return rows;
  },
};
