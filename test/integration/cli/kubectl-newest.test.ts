/** Commands and flags that came with kubectl 1.34 to 1.37: the same output as kubectl 1.37, if it is here. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import { type Ctl, kubectlFor } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { kubectlsOf } from '../../fixtures/kubectls.ts';

/** kubectl cannot make a file that --kuberc names; ctl can. */
const empty = 'apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n';
const kinds = ['pods', 'pods.spec.affinity', 'deployments.spec'];

for (const { path } of kubectlsOf(['1.37']))
  describe('ctl beside kubectl 1.37', { timeout: 120_000 }, () => {
    let server: HttpsTestServer;
    let ctl: Ctl;
    let kubectl: Ctl;

    before(async () => {
      const beside = await startBesideKubectl();
      ({ server, ctl } = beside);
      kubectl = kubectlFor(beside.kubeconfig, path);
      const made = await ctl(['create', 'deployment', 'web', '--image=nginx']);
      assert.equal(made.status, 0, made.err);
    });
    after(() => server.stop());

    const same = async (...args: readonly string[]) => {
      const [ours, theirs] = await Promise.all([ctl(args), kubectl(args)]);
      assert.equal(theirs.status, 0, theirs.err);
      assert.deepEqual([ours.out, ours.status, ours.err], [theirs.out, theirs.status, '']);
    };

    for (const kind of kinds)
      for (const depth of ['0', '1', '2'])
        for (const output of ['plaintext', 'plaintext-openapiv2'])
          it(`explains ${kind} with ${depth} levels as ${output}`, () =>
            same('explain', kind, '--recursive', `--max-depth=${depth}`, '-o', output));

    for (const flags of [
      ['--cpu=70%'],
      ['--cpu=500', '--memory=200'],
      ['--cpu=5e2', '--memory=.5Gi'],
      ['--cpu=1.5', '--memory=60%', '--min=2'],
    ])
      for (const output of ['json', 'yaml'])
        it(`makes an autoscaler with ${flags.join(' ')} as ${output}`, () =>
          same('autoscale', 'deployment/web', '--max=5', ...flags, '--dry-run=client', '-o', output));

    for (const output of ['json', 'yaml'])
      it(`lists the types as ${output}`, () => same('api-resources', '--api-group=apps', '-o', output));

    it('sets and shows preferences', async () => {
      const [own, other] = [join(server.directory, 'own'), join(server.directory, 'other')];
      for (const file of [own, other]) writeFileSync(file, empty);
      const steps = [
        ['--section=defaults', '--command=get', '--option=output=wide'],
        ['--section=aliases', '--name=getn', '--command=get', '--prependarg=nodes', '--option=--output=json'],
        ['--section=aliases', '--name=getn', '--command=get', '--appendarg=-A', '--overwrite'],
        ['--section=credentialplugin', '--policy=Allowlist', '--allowlist-entry=command=aws'],
      ];
      for (const step of steps) {
        const [ours, theirs] = [
          await ctl(['kuberc', 'set', `--kuberc=${own}`, ...step]),
          await kubectl(['kuberc', 'set', `--kuberc=${other}`, ...step]),
        ];
        assert.deepEqual([ours.err, ours.status, theirs.status], ['', 0, 0]);
        assert.equal(ours.out.replace(own, other), theirs.out);
        const [mine, kubectls] = [own, other].map((file) => readFileSync(file, 'utf8'));
        assert.equal(mine, kubectls?.replaceAll(': null', ': []'));
      }
      for (const output of ['yaml', 'json']) await same('kuberc', 'view', `--kuberc=${other}`, '-o', output);
    });

    for (const step of [
      ['--section=x', '--command=get'],
      ['--section=aliases', '--command=get'],
      ['--section=defaults', '--command=get', '--name=a'],
      ['--section=defaults', '--command=get', '--appendarg=a'],
      ['--section=defaults'],
      ['--section=defaults', '--command=get', '--option=a'],
      ['--section=credentialplugin', '--policy=AllowAll', '--allowlist-entry=command=a'],
      ['--section=credentialplugin', '--policy=Allowlist'],
      ['--section=credentialplugin'],
    ])
      it(`rejects ${step.join(' ')}`, async () => {
        const file = join(server.directory, 'refused');
        writeFileSync(file, empty);
        const args = ['kuberc', 'set', `--kuberc=${file}`, ...step];
        const [ours, theirs] = [await ctl(args), await kubectl(args)];
        assert.equal(theirs.status, 1);
        assert.deepEqual([ours.err, ours.status], [theirs.err, 1]);
      });
  });
