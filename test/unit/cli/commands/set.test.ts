/** `ctl set`: which objects change, what is sent, and what the user reads. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { set } from '../../../../src/cli/commands/set.ts';
import { deploymentNamed, startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';

describe('ctl set', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
    const settings = { metadata: { name: 'settings' }, data: { 'log.level': 'debug', COLOR: 'blue' } };
    await world.send('POST', '/api/v1/namespaces/default/configmaps', settings);
    await world.send('POST', '/api/v1/namespaces/default/secrets', {
      metadata: { name: 'keys' },
      data: { TOKEN: Buffer.from('s3cret').toString('base64') },
    });
  });
  after(() => world.stop());
  beforeEach(async () => {
    for (const name of ['a', 'b']) {
      await world.send('DELETE', `${deployments}/${name}`).catch(() => undefined);
      await world.send('POST', deployments, deploymentNamed(name));
    }
  });

  const run = async (verb: string, ...argv: readonly string[]) => {
    const result = await world.run(set.verbs[verb] ?? assert.fail(), argv);
    return { ...result, patches: result.requests.filter((line) => line.startsWith('PATCH ')) };
  };
  const podOf = async (name: string) => {
    const { spec } = (await world.send('GET', `${deployments}/${name}`)) as {
      spec: { template: { spec: Record<string, unknown> & { containers: Record<string, unknown>[] } } };
    };
    return spec.template.spec;
  };
  const fieldOf = async (name: string, field: string) => (await podOf(name)).containers[0]?.[field];

  it('sets the image of each named object, and says nothing of one that has it already', async () => {
    const first = await run('image', 'deploy/a', 'deploy/b', 'c=y:2');
    assert.deepEqual(
      [first.status, first.out],
      [0, 'deployment.apps/a image updated\ndeployment.apps/b image updated\n'],
    );
    assert.deepEqual([await fieldOf('a', 'image'), await fieldOf('b', 'image')], ['y:2', 'y:2']);
    const again = await run('image', 'deploy', 'a', 'c=y:2');
    assert.deepEqual([again.status, again.out, again.patches], [0, '', []]);
  });

  it('continues with the other objects after one that lacks the container, and ends with status 1', async () => {
    await world.send(
      'PATCH',
      `${deployments}/a`,
      [{ op: 'replace', path: '/spec/template/spec/containers/0/name', value: 'other' }],
      'application/json-patch+json',
    );
    const { status, out, err } = await run('image', 'deploy/a', 'deploy/b', 'c=y:2');
    assert.deepEqual(
      [status, out, err],
      [1, 'deployment.apps/b image updated\n', 'error: unable to find container named "c"\n'],
    );
  });

  it('refuses images that contradict one another or are no pairs', async () => {
    for (const [words, message] of [
      [['deploy/a'], /at least one image update is required/],
      [['deploy/a', 'c='], /invalid image: c=/],
      [['deploy/a', '*=x', 'c=y'], /all containers are already specified by \*/],
    ] as const) {
      const { status, err, patches } = await run('image', ...words);
      assert.equal(status, 1);
      assert.match(err, message);
      assert.deepEqual(patches, []);
    }
  });

  it('changes nothing in a dry run, and prints the object that would be stored with -o', async () => {
    for (const where of ['client', 'server']) {
      const { out } = await run('image', 'deploy/a', 'c=y:2', `--dry-run=${where}`);
      assert.match(out, /^deployment\.apps\/a image updated \((server )?dry run\)\n$/);
    }
    const shown = await run('image', 'deploy/a', 'c=y:2', '--dry-run=client', '-o', 'json');
    assert.equal(JSON.parse(shown.out).spec.template.spec.containers[0].image, 'y:2');
    assert.equal(await fieldOf('a', 'image'), 'x:1');
  });

  it('sets, keeps and removes variables', async () => {
    const { out } = await run('env', 'deploy/a', 'A=1', 'B=2', '-e', 'C=x=y');
    assert.equal(out, 'deployment.apps/a env updated\n');
    await run('env', 'deploy/a', 'B-', 'A=3');
    assert.deepEqual(await fieldOf('a', 'env'), [
      { name: 'C', value: 'x=y' },
      { name: 'A', value: '3' },
    ]);
    const kept = await run('env', 'deploy/a', 'A=4', '--no-overwrite');
    assert.match(kept.err, /'A' already has a value \(3\), and --overwrite is false/);
    assert.deepEqual([kept.status, kept.patches], [1, []]);
    const without = await run('env', 'deploy/a');
    assert.match(without.err, /^Note: no variable is given, so nothing is changed/);
    assert.deepEqual([without.status, without.patches], [0, []]);
    for (const words of [['deploy/a', 'COLOR'], ['deploy/none']]) {
      const wrong = await run('env', ...words);
      assert.equal(wrong.status, 1);
      assert.match(wrong.err, /^[^\n]*\n$/, 'the error alone');
    }
    const bare = await run('env', 'deploy/a', 'COLOR');
    assert.match(bare.err, /^error: "COLOR" changes no variable: write COLOR=VALUE to set it, or COLOR- to/);
  });

  it('takes variables from the keys of a ConfigMap or Secret, with names that a shell knows', async () => {
    const { err } = await run('env', 'deploy/a', '--from=configmap/settings', '--prefix=APP_');
    assert.equal(err, 'Warning: key log.level transferred to LOG_LEVEL\n');
    const from = (name: string, key: string) => ({
      name,
      valueFrom: { configMapKeyRef: { name: 'settings', key } },
    });
    assert.deepEqual(await fieldOf('a', 'env'), [
      from('APP_COLOR', 'COLOR'),
      from('APP_LOG_LEVEL', 'log.level'),
    ]);
    await run('env', 'deploy/b', '--from=configmap/settings', '--keys=COLOR');
    assert.deepEqual(await fieldOf('b', 'env'), [from('COLOR', 'COLOR')]);
    const other = await run('env', 'deploy/b', '--from=deployment/a');
    assert.match(other.err, /unsupported resource specified in --from/);
  });

  it('lists variables and changes none, and prints values of Secrets only with --resolve', async () => {
    await run('env', 'deploy/a', '--from=secret/keys');
    await run('env', 'deploy/a', 'PLAIN=1');
    const listed = await run('env', 'deploy/a', '--list');
    assert.equal(listed.out, '# Deployment a, container c\n# TOKEN from secret keys, key TOKEN\nPLAIN=1\n');
    const resolved = await run('env', 'deploy/a', '--list', '--resolve');
    assert.equal(resolved.out, '# Deployment a, container c\nTOKEN=s3cret\nPLAIN=1\n');
    const early = await run('env', 'deploy/a', 'NEW=1', '--list');
    assert.match(early.out, /^NEW=1$/m);
    assert.deepEqual([listed.patches, resolved.patches, early.patches], [[], [], []]);
  });

  it('warns of an object without a container that matches', async () => {
    const { err, patches } = await run('env', 'deploy/a', 'A=1', '-c', 'web*');
    assert.equal(err, 'Warning: Deployment/a does not have any containers matching "web*"\n');
    assert.deepEqual(patches, []);
  });

  it('sets the given amounts and keeps the others', async () => {
    await run('resources', 'deploy', 'a', '--limits=cpu=1,memory=64Mi');
    const { out } = await run('resources', 'deploy', 'a', '--limits=cpu=2', '--requests=cpu=100m');
    assert.equal(out, 'deployment.apps/a resource requirements updated\n');
    assert.deepEqual(await fieldOf('a', 'resources'), {
      limits: { cpu: '2', memory: '64Mi' },
      requests: { cpu: '100m' },
    });
    const none = await run('resources', 'deploy', 'a');
    assert.match(none.err, /you must specify an update to requests or limits/);
  });

  it('sets the service account of the pods', async () => {
    const { out } = await run('sa', 'deploy/a', 'deploy/b', 'robot');
    assert.equal(out, 'deployment.apps/a serviceaccount updated\ndeployment.apps/b serviceaccount updated\n');
    assert.deepEqual(
      [(await podOf('a')).serviceAccountName, (await podOf('b')).serviceAccountName],
      ['robot', 'robot'],
    );
  });

  it('replaces the selector of a Service, only in the version that is named', async () => {
    const path = '/api/v1/namespaces/default/services/web';
    const spec = { selector: { app: 'a' }, ports: [{ port: 80 }] };
    await world.send('POST', '/api/v1/namespaces/default/services', { metadata: { name: 'web' }, spec });
    const selector = async () => ((await world.send('GET', path)).spec as { selector: object }).selector;
    const stale = await run('selector', 'svc', 'web', 'app=b', '--resource-version=1');
    assert.equal(stale.status, 1);
    assert.deepEqual(await selector(), { app: 'a' });
    const done = await run('selector', 'svc', 'web', 'app=b,tier=front');
    assert.equal(done.out, 'service/web selector updated\n');
    assert.deepEqual(await selector(), { app: 'b', tier: 'front' });
    const wrong = await run('selector', 'deploy', 'a', 'app=b');
    assert.match(wrong.err, /only supported for Services/);
  });

  it('adds subjects to a binding, each once, with service accounts of the namespace', async () => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
    const ann = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' };
    await world.send('POST', rbac, { metadata: { name: 'readers' }, roleRef, subjects: [ann] });
    const { out } = await run(
      'subject',
      'rolebinding',
      'readers',
      '--user=ann',
      '--serviceaccount=shop:robot',
    );
    assert.equal(out, 'rolebinding.rbac.authorization.k8s.io/readers subjects updated\n');
    assert.deepEqual((await world.send('GET', `${rbac}/readers`)).subjects, [
      ann,
      { kind: 'ServiceAccount', name: 'robot', namespace: 'shop' },
    ]);
    const again = await run('subject', 'rolebinding', 'readers', '--user=ann');
    assert.deepEqual(again.patches, []);
    const none = await run('subject', 'rolebinding', 'readers');
    assert.match(none.err, /at least one value of user, group or serviceaccount/);
  });
});
