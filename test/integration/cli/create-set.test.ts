/**
 * `ctl create KIND`, `set`, `replace` and `diff` beside kubectl 1.32: the same output, and the same objects.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import type { Ctl } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';
import { configMap, container, deployment, service } from './parity-cases.ts';

const words = (line: string) => line.split(' ').map((word) => word.replaceAll('~', ' '));

/** Returns `object` with every list of variables sorted by name. */
const byName = (object: JsonObject) =>
  JSON.parse(JSON.stringify(object), (key, value) =>
    key === 'env' ? (value as { name: string }[]).toSorted((a, b) => (a.name < b.name ? -1 : 1)) : value,
  ) as JsonObject;

describe('ctl beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;
  before(async () => {
    ({ server, ctl, kubectl } = await startBesideKubectl());
  });
  after(() => server.stop());

  const stored = async (resource: string, name: string) => {
    const { out, err, status } = await ctl(['get', resource, name, '-o', 'json']);
    assert.equal(status, 0, err);
    const { metadata, ...rest } = JSON.parse(out) as { metadata: JsonObject };
    const { labels, annotations } = metadata;
    return { ...rest, labels, annotations } as JsonObject;
  };

  describe('create', () => {
    for (const line of [
      'role one --verb=get,list --verb=watch --resource=pods,deployments.apps --resource=deploy/scale',
      'role one --verb=get --resource=pods/log --resource-name=a --resource-name=b',
      'role one --verb=*,get --resource=*',
      'clusterrole one --verb=get --resource=nodes,pods',
      'clusterrole one --verb=get,post --non-resource-url=/metrics,/healthz/*',
      'clusterrole one --verb=get --resource=pods --non-resource-url=/metrics',
      'clusterrole one --verb=impersonate --resource=users,groups',
      'clusterrole one --aggregation-rule=a=b,c=d',
      'rolebinding one --role=look --user=jane --user=joe --group=devs --serviceaccount=default:robot',
      'rolebinding one --clusterrole=view --user=jane',
      'clusterrolebinding one --clusterrole=view --group=devs --serviceaccount=x:y',
      'quota one --hard=pods=10,limits.memory=1Gi,cpu=1 --scopes=NotTerminating',
      'quota one',
      'resourcequota one --hard=pods=1',
      'pdb one --selector=app=web --min-available=50%',
      'poddisruptionbudget one --selector=app=web,tier~in~(a,b) --max-unavailable=1',
      'priorityclass one --value=1000 --description=x~y --preemption-policy=Never',
      'pc one --value=-5',
      'priorityclass one',
    ])
      it(line, async () => {
        const args = ['create', ...words(line)];
        const [kind = ''] = words(line);
        const ours = await ctl(args);
        assert.equal(ours.status, 0, ours.err);
        const mine = await stored(kind, 'one');
        await ctl(['delete', kind, 'one']);
        const theirs = await kubectl(args);
        assert.deepEqual([ours.out, ours.err], [theirs.out, theirs.err]);
        assert.deepEqual(mine, await stored(kind, 'one'));
        await ctl(['delete', kind, 'one']);
      });

    // No controller ends a deleted namespace here.
    for (const kind of ['namespace', 'ns'])
      it(`create ${kind} makes what kubectl makes`, async () => {
        const ours = await ctl(['create', kind, `ours-${kind}`]);
        const theirs = await kubectl(['create', kind, `theirs-${kind}`]);
        assert.deepEqual(
          [ours.status, ours.out.replace('ours', 'theirs'), ours.err],
          [theirs.status, theirs.out, theirs.err],
        );
        const [mine, other] = [await stored('ns', `ours-${kind}`), await stored('ns', `theirs-${kind}`)];
        assert.equal(JSON.stringify(mine).replaceAll('ours', 'theirs'), JSON.stringify(other));
      });

    for (const line of [
      'role one --resource=pods',
      'role one --verb=get',
      'role one --verb=get --resource=/log',
      'role one --verb=bind --resource=pods',
      'role',
      'role one two --verb=get --resource=pods',
      'clusterrole one --verb=get',
      'clusterrole one --verb=list --non-resource-url=/metrics',
      'clusterrole one --verb=get --non-resource-url=metrics',
      'clusterrole one --verb=get --non-resource-url=/a*/b',
      'clusterrole one --verb=get --aggregation-rule=a=b',
      'rolebinding one',
      'rolebinding one --role=a --clusterrole=b',
      'rolebinding one --role=a --serviceaccount=robot',
      'quota one --hard=pods',
      'quota one --hard=pods=1 --scopes=a,,b',
      'pdb one --min-available=1',
      'pdb one --selector=a=b',
      'pdb one --selector=a=b --min-available=1 --max-unavailable=1',
      'pdb one --selector=a=b --min-available=10Gi',
    ])
      it(`refuses create ${line}`, async () => {
        const args = ['create', ...words(line)];
        const [ours, theirs] = [await ctl(args), await kubectl(args)];
        assert.deepEqual([ours.status, ours.out], [theirs.status, ''], ours.err);
        const [said = ''] = theirs.err.split('\n');
        // Each tool has its own message for a wrong number of names.
        if (!said.includes('exactly one NAME'))
          assert.ok(ours.err.includes(said.replace(/^error: /, '')), `${ours.err}\n${said}`);
      });

    it('warns about an unknown verb', async () => {
      const args = words('create role odd --verb=fly --resource=pods --dry-run=client');
      assert.deepEqual(await ctl(args), await kubectl(args));
    });

    for (const dryRun of ['client', 'server'])
      it(`--dry-run=${dryRun} creates no object`, async () => {
        const args = words(`create quota none --hard=pods=1 --dry-run=${dryRun}`);
        assert.deepEqual(await ctl(args), await kubectl(args));
        assert.equal((await ctl(['get', 'quota', 'none'])).status, 1);
      });
  });

  describe('set', () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ];
    const objects: JsonObject[] = [
      deployment({ initContainers: [container('prepare')] }, [container('c', { env }), container('d')]),
      service([{ port: 80 }]),
      configMap({ 'log.level': 'x', other: 'y' }),
      {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'tick' },
        spec: {
          schedule: '0 0 1 1 *',
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: 'Never', containers: [container('c')] } } },
          },
        },
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'bound' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'look' },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }],
      },
    ];
    const renew = async () => {
      await ctl(words('delete deployment/web service/web cm/settings cronjob/tick rolebinding/bound'));
      const stdin = objects.map((one) => JSON.stringify(one)).join('\n---\n');
      const { status, err } = await ctl(['create', '-f', '-'], { stdin });
      assert.equal(status, 0, err);
    };

    for (const [object, line] of [
      ['deployment', 'image deployment/web c=c:2 prepare=p:2'],
      ['deployment', 'image deployment web *=all:1'],
      ['deployment', 'image deployment/web c=c:1'],
      ['deployment', 'image deployment/web nobody=c:2'],
      ['cronjob', 'image cronjob/tick c=c:2'],
      ['deployment', 'env deployment/web A=2 C=3 B-'],
      ['deployment', 'env deployment/web B=plain -c c'],
      ['deployment', 'env deployment/web A=2 --overwrite=false'],
      ['deployment', 'env deployment/web A=1 -c nobody'],
      ['deployment', 'env deployment/web --from=configmap/settings --prefix=X_'],
      ['deployment', 'env deployment/web --from=configmap/settings --keys=other'],
      ['deployment', 'env deployment/web --list'],
      ['deployment', 'env deployment/web -e Z=9'],
      ['deployment', 'env deployment/web A=1 A-'],
      ['cronjob', 'env cronjob/tick A=1'],
      ['deployment', 'resources deployment/web --limits=cpu=200m,memory=512Mi --requests=cpu=100m'],
      ['deployment', 'resources deployment/web -c=d --limits=cpu=200m'],
      ['deployment', 'resources deployment/web -c=nobody --limits=cpu=200m'],
      ['deployment', 'resources deployment/web'],
      ['service', 'selector service/web a=b,c=d'],
      ['deployment', 'selector deployment/web a=b'],
      ['deployment', 'serviceaccount deployment/web robot'],
      ['cronjob', 'sa cronjob/tick robot'],
      ['rolebinding', 'subject rolebinding/bound --user=joe --user=jane --group=devs'],
      ['rolebinding', 'subject rolebinding/bound --serviceaccount=default:robot'],
      ['rolebinding', 'subject rolebinding/bound'],
      ['deployment', 'image deployment/web c=c:3 --dry-run=client'],
      ['deployment', 'image deployment/web c=c:3 --dry-run=server'],
    ] as const)
      it(line, async () => {
        const name = { deployment: 'web', service: 'web', cronjob: 'tick', rolebinding: 'bound' }[object];
        const args = ['set', ...words(line)];
        await renew();
        const ours = await ctl(args);
        const mine = await stored(object, name);
        await renew();
        const theirs = await kubectl(args);
        const found = await stored(object, name);
        for (const one of [mine, found]) delete (one.spec as JsonObject | undefined)?.clusterIP;
        // kubectl iterates over the keys of an object in an order that differs from run to run.
        const inAnyOrder = line.includes('--from=');
        assert.deepEqual(inAnyOrder ? byName(mine) : mine, inAnyOrder ? byName(found) : found);
        assert.deepEqual([ours.status, ours.out], [theirs.status, theirs.out], ours.err);
        const [said = ''] = theirs.err.split('\n');
        // kubectl names the object in some messages and not in others.
        const expected = said.replace(/^error: (deployments\/web )?/, '');
        assert.ok(ours.err.includes(expected), `${ours.err}\n${said}`);
      });
  });

  describe('files', () => {
    const file = () => join(server.directory, 'object.yaml');
    const write = (object: JsonObject) => writeFile(file(), JSON.stringify(object));

    it('replace leaves only the fields of the manifest', async () => {
      await ctl(['delete', 'cm', 'settings']);
      await write(configMap({ a: '2' }));
      const missing = await ctl(['replace', '-f', file()]);
      assert.deepEqual([missing.status, missing.out], [1, '']);
      assert.match(missing.err, /NotFound/);
      await ctl(['create', '-f', '-'], {
        stdin: JSON.stringify(configMap({ a: '1', b: '1' }, { labels: { x: 'y' } })),
      });
      const args = ['replace', '-f', file()];
      assert.deepEqual(await ctl(args), { status: 0, out: 'configmap/settings replaced\n', err: '' });
      const { data, labels } = (await stored('cm', 'settings')) as JsonObject;
      assert.deepEqual([data, labels], [{ a: '2' }, undefined]);
      assert.deepEqual(await ctl(args), await kubectl(args));
      await write(configMap({ a: '3' }, { resourceVersion: '1' }));
      const stale = await ctl(args);
      assert.equal(stale.status, 1);
      assert.match(stale.err, /Conflict/);
    });

    it('replace --force recreates the object', async () => {
      await write(configMap({ a: '4' }));
      const uid = ['get', 'cm', 'settings', '-o', 'jsonpath={.metadata.uid}'];
      const before = (await ctl(uid)).out;
      const args = ['replace', '--force', '-f', file()];
      const ours = await ctl(args);
      assert.deepEqual(
        [ours.status, ours.out],
        [0, 'configmap "settings" deleted\nconfigmap/settings replaced\n'],
      );
      assert.notEqual((await ctl(uid)).out, before);
      assert.equal((await kubectl(args)).out, ours.out);
    });

    // Both tools start the program.
    const path = { env: { PATH: process.env.PATH ?? '' } };
    const lines = (text: string) => text.replaceAll(/^(diff|---|\+\+\+) .*$/gm, '$1');
    for (const [what, object, status] of [
      ['nothing', configMap({ a: '1', b: '2' }), 0],
      ['a changed and a removed value', configMap({ a: '2' }), 1],
      ['an object that does not exist', configMap({ a: '2' }, { name: 'fresh' }), 1],
    ] as const)
      it(`diff: ${what}`, async () => {
        await write(configMap({ a: '1', b: '2' }));
        await ctl(['delete', 'cm', 'settings']);
        await ctl(['apply', '-f', file()]);
        await write(object);
        const args = ['diff', '-f', file()];
        const [ours, theirs] = [await ctl(args, path), await kubectl(args, path)];
        assert.equal(ours.status, status, ours.err);
        assert.equal(theirs.status, status);
        const plain = (text: string) => lines(text).replaceAll(/(uid|creationTimestamp): .*/g, '$1');
        assert.equal(plain(ours.out), plain(theirs.out));
        const { out } = await ctl(['get', 'cm', '-o', 'name']);
        assert.ok(!out.includes('fresh'));
      });

    it('diff of a Secret shows which keys differ, without their values', async () => {
      const secret = (value: string) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'hidden' },
        data: { word: Buffer.from(value).toString('base64'), same: 'c2FtZQ==' },
      });
      await write(secret('one'));
      await ctl(['apply', '-f', file()]);
      await write(secret('other'));
      const args = ['diff', '-f', file()];
      const [ours, theirs] = [await ctl(args, path), await kubectl(args, path)];
      const changed = (text: string) =>
        lines(text)
          .replaceAll("'", '"')
          .match(/^[-+] .*$/gm);
      assert.deepEqual(changed(ours.out), changed(theirs.out));
      for (const value of ['one', 'other'])
        assert.ok(!ours.out.includes(Buffer.from(value).toString('base64')), ours.out);
      assert.match(ours.out, /-\s+word: .\*\*\* \(before\).\n\+\s+word: .\*\*\* \(after\)./);
    });

    it('a failure of diff has another exit status than a difference', async () => {
      const ours = await ctl(['diff', '-f', join(server.directory, 'missing.yaml')]);
      assert.ok(ours.status > 1, String(ours.status));
    });
  });
});
