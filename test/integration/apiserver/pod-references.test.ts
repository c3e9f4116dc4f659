/**
 * References of pods to objects that do not exist, and values that the schema of the security fields rejects.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

describe('a new pod', () => {
  let server: TestServer;
  let count = 0;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const create = (spec: object) =>
    server.call('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: `p${count++}` },
      spec: { containers: [{ name: 'a', image: 'b' }], ...spec },
    });

  const refused: readonly (readonly [string, object, number, RegExp])[] = [
    [
      'with a service account that does not exist',
      { serviceAccountName: 'x' },
      403,
      /^pods "p\d+" is forbidden: error looking up service account default\/x: serviceaccount "x" not found/,
    ],
    [
      'with a missing service account in the deprecated field',
      { serviceAccount: 'x' },
      403,
      /serviceaccount "x" not found/,
    ],
    [
      'with a runtime class that does not exist',
      { runtimeClassName: 'gvisor' },
      403,
      /is forbidden: pod rejected: RuntimeClass "gvisor" not found$/,
    ],
    [
      'with an overhead',
      { overhead: { cpu: '1' } },
      403,
      /pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead$/,
    ],
    [
      'with a priority class that does not exist',
      { priorityClassName: 'high' },
      403,
      /no PriorityClass with name high was found$/,
    ],
    [
      'with a priority',
      { priority: 2_000_001_000 },
      403,
      /the integer value of priority \(2000001000\) must not be provided in pod spec/,
    ],
    [
      'with a seccomp profile of an invalid kind',
      { securityContext: { seccompProfile: { type: 'Docker' } } },
      422,
      /spec\.securityContext\.seccompProfile\.type: Unsupported value: "Docker"/,
    ],
    [
      'with an incomplete spread constraint',
      { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone' }] },
      422,
      /spec\.topologySpreadConstraints\[0\]\.whenUnsatisfiable: Required value/,
    ],
  ];
  for (const [name, spec, status, message] of refused) {
    it(`${name} is refused`, async () => {
      const answer = await create(spec);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.json<Status>().message ?? '', message);
    });
  }

  it('may name objects that every cluster has', async () => {
    const answer = await create({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      priorityClassName: 'system-node-critical',
    });
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.json<Pod>().spec.priority, 2_000_001_000);
    assert.equal((await create({ priority: 0, serviceAccountName: '' })).status, 201);
  });

  it('has the account of its namespace unless it names one, under both names of the field', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    assert.equal((await server.call('POST', accounts, { metadata: { name: 'robot' } })).status, 201);
    for (const [spec, expected] of [
      [{}, 'default'],
      [{ serviceAccountName: 'robot' }, 'robot'],
      [{ serviceAccount: 'robot' }, 'robot'],
    ] as const) {
      const answer = await create(spec);
      assert.equal(answer.status, 201, answer.text);
      const { serviceAccount, serviceAccountName } = answer.json<Pod>().spec;
      assert.deepEqual([serviceAccount, serviceAccountName], [expected, expected]);
    }
  });

  it('may decide whether it gets a token', async () => {
    for (const wanted of [undefined, true, false]) {
      const { spec } = (await create({ automountServiceAccountToken: wanted })).json<Pod>();
      // The account of the fixture requests no token volume.
      const volumes = wanted ? 1 : 0;
      assert.deepEqual([spec.automountServiceAccountToken, spec.volumes?.length ?? 0], [wanted, volumes]);
    }
  });

  it('is checked when the pod is created, and not when the template of its controller is', async () => {
    const labels = { app: 'a' };
    const answer = await server.call('POST', '/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { serviceAccountName: 'x', containers: [{ name: 'a', image: 'b' }] },
        },
      },
    });
    assert.equal(answer.status, 201, answer.text);
  });

  it('with scheduling gates has the condition that it waits for them', async () => {
    const answer = await create({ schedulingGates: [{ name: 'a.example/b' }] });
    const [condition] = answer.json<Pod>().status?.conditions ?? [];
    assert.deepEqual(
      [condition?.type, condition?.status, condition?.reason],
      ['PodScheduled', 'False', 'SchedulingGated'],
    );
  });
});
