/** `ctl create job` beside kubectl 1.32. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import type { Ctl } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';

const jobs = '/apis/batch/v1/namespaces/default/jobs';
const cronJob = {
  metadata: { name: 'tick' },
  spec: {
    schedule: '0 0 * * *',
    jobTemplate: {
      metadata: { labels: { app: 'tick' }, annotations: { note: 'x' } },
      spec: {
        backoffLimit: 2,
        template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'app', image: 'app:1' }] } },
      },
    },
  },
};

describe('ctl create job', () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;
  before(async () => {
    ({ server, ctl, kubectl } = await startBesideKubectl());
    const path = '/apis/batch/v1/namespaces/default/cronjobs';
    assert.equal((await server.call('POST', path, cronJob)).status, 201);
  });
  after(() => server.stop());

  /** Returns the created object without the fields that differ between any two objects. */
  async function made(): Promise<unknown> {
    const answer = await server.call('GET', `${jobs}/one`);
    assert.equal(answer.status, 200);
    const { metadata, spec } = answer.json<{ metadata: Record<string, unknown>; spec: unknown }>();
    const { labels, annotations, ownerReferences, uid } = metadata;
    await server.call('DELETE', `${jobs}/one?propagationPolicy=Background`);
    const text = JSON.stringify({ labels, annotations, ownerReferences, spec });
    return JSON.parse(text.replaceAll(String(uid), 'UID'));
  }

  const lines = [
    'one --image=app:2',
    'one --image app:2 -- date -u',
    'one --from=cronjob/tick',
    'one --from=cj/tick',
    'one --from=cronjobs.batch/tick',
  ];
  for (const line of lines)
    it(`makes what kubectl makes: ${line}`, { skip: unlessKubectl('1.32') }, async () => {
      const args = ['create', 'job', ...line.split(' ')];
      const own = await ctl(args);
      assert.deepEqual([own.status, own.out, own.err], [0, 'job.batch/one created\n', '']);
      const ours = await made();
      const theirs = await kubectl(args);
      assert.deepEqual([theirs.status, theirs.out], [0, own.out], theirs.err);
      assert.deepEqual(ours, await made());
    });

  for (const mode of ['client', 'server'])
    it(`--dry-run=${mode} prints the message of kubectl and creates no Job`, {
      skip: unlessKubectl('1.32'),
    }, async () => {
      const args = ['create', 'job', 'one', '--image=app:1', `--dry-run=${mode}`];
      const [own, theirs] = [await ctl(args), await kubectl(args)];
      assert.deepEqual([own.status, own.out], [0, theirs.out]);
      assert.equal((await server.call('GET', `${jobs}/one`)).status, 404);
    });

  for (const line of [
    '',
    'one',
    '-- date',
    'one --image=a --from=cronjob/tick',
    'one --from=cronjob/tick -- date',
    'one --from=cronjob/none',
    'one --from=pod/tick',
    'one --from=tick',
    'One --image=a',
  ])
    it(`refuses create job ${line}, as kubectl does`, { skip: unlessKubectl('1.32') }, async () => {
      const args = ['create', 'job', ...line.split(' ').filter((word) => word !== '')];
      const [own, theirs] = [await ctl(args), await kubectl(args)];
      assert.deepEqual([own.status, theirs.status], [1, 1], own.out + theirs.out);
      assert.deepEqual([own.out, own.err === ''], ['', false]);
    });
});
