/** `ctl rollout` of several workloads, and how its verbs fail. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rollout } from '../../../../src/cli/commands/rollout.ts';
import type { Verb } from '../../../../src/cli/verb.ts';
import { deploymentNamed, startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const apps = '/apis/apps/v1/namespaces/default';
const merge = 'application/merge-patch+json';
const verb = (name: string): Verb => rollout.verbs[name] ?? assert.fail(`there is no verb ${name}`);

/** Returns a ReplicaSet of a revision of a Deployment. */
const replicaSet = (owner: { name: string; uid: string }, revision: number, image: string) => {
  const labels = { app: owner.name, 'pod-template-hash': `h${revision}` };
  return {
    metadata: {
      name: `${owner.name}-h${revision}`,
      labels,
      annotations: { 'deployment.kubernetes.io/revision': String(revision) },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', controller: true, name: owner.name, uid: owner.uid },
      ],
    },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } },
    },
  };
};

describe('ctl rollout', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
    for (const name of ['a', 'b']) {
      const { metadata } = await world.send('POST', `${apps}/deployments`, deploymentNamed(name));
      const owner = metadata as { name: string; uid: string };
      await world.send('POST', `${apps}/replicasets`, replicaSet(owner, 1, 'x:0'));
      await world.send('POST', `${apps}/replicasets`, replicaSet(owner, 2, 'x:1'));
    }
    await complete('a');
    await complete('b');
  });
  after(() => world.stop());

  /** Sets the status of a complete rollout. */
  async function complete(name: string, revision = '2') {
    const path = `${apps}/deployments/${name}`;
    await world.send(
      'PATCH',
      path,
      { metadata: { annotations: { 'deployment.kubernetes.io/revision': revision } } },
      merge,
    );
    const { metadata } = await world.send('GET', path);
    const status = {
      observedGeneration: (metadata as { generation: number }).generation,
      ...{ replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 },
    };
    await world.send('PATCH', `${path}/status`, { status }, merge);
  }
  const imageOf = async (name: string) => {
    const { spec } = await world.send('GET', `${apps}/deployments/${name}`);
    return (spec as ReturnType<typeof deploymentNamed>['spec']).template.spec.containers[0]?.image;
  };

  for (const [name, printed] of [
    ['status', /deployment "b" successfully rolled out/],
    ['history', /^deployment\.apps\/b/],
    ['restart', /^deployment\.apps\/b restarted\n$/],
    ['pause', /^deployment\.apps\/b paused\n$/],
    ['resume', /^deployment\.apps\/b resumed\n$/],
  ] as const)
    it(`${name} handles the other workloads after one that does not exist, and fails`, async () => {
      await complete('b');
      const { status, out, err } = await world.run(verb(name), ['deployment/missing', 'deployment/b']);
      assert.equal(status, 1);
      assert.match(out, printed);
      assert.match(err, /deployments.apps "missing" not found/);
    });

  it('undo rolls back the other workloads after one that does not exist, and fails', async () => {
    const { status, out, err } = await world.run(verb('undo'), ['deployment/missing', 'deployment/a']);
    assert.deepEqual([status, out], [1, 'deployment.apps/a rolled back\n']);
    assert.match(err, /deployments.apps "missing" not found/);
    assert.equal(await imageOf('a'), 'x:0');
  });

  it('undo asks the server in a dry run by the server, and stores nothing', async () => {
    const before = await imageOf('b');
    const { out, requests } = await world.run(verb('undo'), [
      ...['deployment/b', '--to-revision=1', '--dry-run=server'],
    ]);
    assert.equal(out, 'deployment.apps/b rolled back (server dry run)\n');
    assert.ok(
      requests.some((one) => one.startsWith('PATCH') && one.includes('dryRun=All')),
      requests.join(),
    );
    assert.equal(await imageOf('b'), before);
  });

  it('status fails for another revision than --revision', async () => {
    await complete('b', '4');
    const { status, err } = await world.run(verb('status'), ['deployment/b', '--revision=3']);
    assert.equal(status, 1);
    assert.match(err, /desired revision \(3\) is different from the running revision \(4\)/);
    await complete('b');
  });

  it('history prints the one revision of --revision as -o json', async () => {
    const { out } = await world.run(verb('history'), ['deployment/b', '--revision=1', '-o', 'json']);
    const shown = JSON.parse(out) as { spec: ReturnType<typeof deploymentNamed>['spec'] };
    assert.equal(shown.spec.template.spec.containers[0]?.image, 'x:0');
  });

  it('prints no error for the workloads after an interrupt', async () => {
    const user = new AbortController();
    const { err, requests } = await world.run(verb('restart'), ['deployment/a', 'deployment/b'], {
      signal: user.signal,
      before: ({ method }) => {
        if (method === 'PATCH') user.abort(new Error('interrupted'));
      },
    });
    assert.equal(requests.filter((one) => one.includes('/deployments/b')).length, 0);
    assert.equal(err, 'error: interrupted\n');
  });

  it('history of a workload without revisions has none to miss', async () => {
    await world.send('POST', `${apps}/deployments`, deploymentNamed('fresh'));
    const { status, out } = await world.run(verb('history'), ['deployment/fresh', '--revision=99']);
    const text = 'deployment.apps/fresh with revision #99\nNo rollout history found.\n';
    assert.deepEqual([status, out], [0, text]);
    const missing = await world.run(verb('history'), ['deployment/b', '--revision=99']);
    assert.deepEqual([missing.status, missing.err], [1, 'error: unable to find the specified revision\n']);
  });

  it('restart reports a wrong output format once, and changes no workload', async () => {
    const before = await world.send('GET', `${apps}/deployments/a`);
    const words = ['deployment/a', 'deployment/b', '-o', 'nonsense'];
    const { status, err } = await world.run(verb('restart'), words);
    assert.equal(status, 1);
    assert.equal(err.match(/"nonsense"/g)?.length, 1, err);
    assert.deepEqual(await world.send('GET', `${apps}/deployments/a`), before);
  });

  it('status prints the cause of a rollout that stands still once', async () => {
    const { metadata } = await world.send('POST', `${apps}/deployments`, deploymentNamed('still'));
    assert.ok(metadata);
    const pods = '/api/v1/namespaces/default/pods';
    const spec = { containers: [{ name: 'c', image: 'x:9' }] };
    await world.send('POST', pods, { metadata: { name: 'still-1', labels: { app: 'still' } }, spec });
    const waiting = { reason: 'ErrImagePull', message: 'there is no such image' };
    const state = { name: 'c', image: 'x:9', imageID: '', ready: false, restartCount: 0, state: { waiting } };
    const broken = { status: { phase: 'Pending', containerStatuses: [state] } };
    await world.send('PATCH', `${pods}/still-1/status`, broken, merge);
    const { status, err } = await world.run(verb('status'), ['deployment/still', '--timeout=30s']);
    assert.equal(status, 1);
    assert.equal(err.match(/^Note: /gm)?.length, 1, err);
    assert.match(err, /timed out waiting for the condition/);
  });
});
