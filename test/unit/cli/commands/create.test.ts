/** `ctl create`: what it requests, creates and prints. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { create } from '../../../../src/cli/commands/create.ts';
import { createJob } from '../../../../src/cli/commands/create-job.ts';
import { createToken } from '../../../../src/cli/commands/create-token.ts';
import type { ApiRequest } from '../../../../src/client/transport.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

describe('ctl create', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
    await world.send('POST', '/api/v1/namespaces/shop/serviceaccounts', { metadata: { name: 'robot' } });
  });
  after(() => world.stop());

  it('prints an object without a name as <unknown> in a dry run, as kubectl does', async () => {
    const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a-' } });
    const run = (...argv: readonly string[]) =>
      world.run(create, ['-f', '-', '--dry-run=client', ...argv], { stdin });
    assert.equal((await run()).out, 'configmap/<unknown> created (dry run)\n');
    assert.equal((await run('-o', 'name')).out, 'configmap/<unknown>\n');
  });

  it('token requests a token in the namespace, for the seconds of --duration', async () => {
    let sent: ApiRequest | undefined;
    const { status, out } = await world.run(createToken, ['robot', '-n', 'shop', '--duration=20m'], {
      before: (request) => {
        if (request.method === 'POST') sent = request;
      },
    });
    assert.equal(status, 0);
    const [, claims = ''] = out.split('.');
    const { sub, exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as {
      sub: string;
      exp: number;
      iat: number;
    };
    assert.deepEqual([sub, exp - iat], ['system:serviceaccount:shop:robot', 1200]);
    assert.ok(sent?.path.startsWith('/api/v1/namespaces/shop/'));
  });

  it('token ends the token with a newline on a terminal only', async () => {
    const piped = await world.run(createToken, ['robot', '-n', 'shop']);
    const shown = await world.run(createToken, ['robot', '-n', 'shop'], { io: { columns: { out: 80 } } });
    assert.deepEqual([piped.out.endsWith('\n'), shown.out.endsWith('\n')], [false, true]);
  });

  it('job takes labels, annotations and spec from the template of the CronJob', async () => {
    const template = {
      metadata: { labels: { of: 'template' }, annotations: { note: 'x' } },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x:1' }] } } },
    };
    await world.send('POST', '/apis/batch/v1/namespaces/shop/cronjobs', {
      metadata: { name: 'nightly', labels: { of: 'cronjob' } },
      spec: { schedule: '@daily', jobTemplate: template },
    });
    const made = await world.run(createJob, ['now', '--from=cronjob/nightly', '-n', 'shop']);
    assert.deepEqual([made.status, made.out], [0, 'job.batch/now created\n']);
    const { metadata } = await world.send('GET', '/apis/batch/v1/namespaces/shop/jobs/now');
    const { labels, annotations, ownerReferences } = metadata as {
      labels: Record<string, string>;
      annotations: Record<string, string>;
      ownerReferences: { kind: string; name: string; controller: boolean }[];
    };
    assert.equal(labels.of, 'template');
    assert.deepEqual(annotations, { note: 'x', 'cronjob.kubernetes.io/instantiate': 'manual' });
    assert.deepEqual(
      ownerReferences.map(({ kind, name, controller }) => [kind, name, controller]),
      [['CronJob', 'nightly', true]],
    );
  });
});
