/** `ctl certificate approve` and `deny`. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { add } from '../../../../src/cli/commands/add.ts';
import { certificate } from '../../../../src/cli/commands/certificate.ts';
import type { VerbGroup } from '../../../../src/cli/verb.ts';
import { makeKey, makeRequest } from '../../../../src/pki/new-request.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const merge = 'application/merge-patch+json';
const verb = (group: VerbGroup, name: string) => group.verbs[name] ?? assert.fail(`there is no verb ${name}`);

describe('ctl certificate', () => {
  let world: VerbWorld;
  let pem: string;
  before(async () => {
    world = await startVerbWorld();
    pem = await makeRequest(await makeKey(), { commonName: 'ann', organizations: [] });
  });
  after(() => world.stop());

  const request = (name: string) =>
    world.send('POST', requests, {
      metadata: { name },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    });
  const decisions = async (name: string) => {
    const { status } = await world.send('GET', `${requests}/${name}`);
    return ((status as { conditions?: { type: string }[] }).conditions ?? []).map(({ type }) => type);
  };

  it('rejects the opposite of an earlier decision, and keeps an equal one', async () => {
    await request('a');
    await world.run(verb(certificate, 'deny'), ['a']);
    const opposite = await world.run(verb(certificate, 'approve'), ['a', '--force']);
    assert.deepEqual(
      [opposite.status, opposite.err],
      [1, 'error: certificate signing request "a" is already Denied\n'],
    );
    const equal = await world.run(verb(certificate, 'deny'), ['a']);
    assert.deepEqual([equal.status, equal.requests.filter((one) => one.startsWith('PUT'))], [0, []]);
    assert.deepEqual(await decisions('a'), ['Denied']);
  });

  it('decides again after the write of another client', async () => {
    await request('b');
    let writes = 0;
    const { status } = await world.run(verb(certificate, 'approve'), ['b'], {
      before: async ({ method }) => {
        if (method === 'PUT' && writes++ === 0)
          await world.send('PATCH', `${requests}/b`, { metadata: { labels: { a: 'b' } } }, merge);
      },
    });
    assert.deepEqual([status, writes, await decisions('b')], [0, 2, ['Approved']]);
  });

  it('rejects a request that another client has denied meanwhile', async () => {
    await request('c');
    const denied = { type: 'Denied', status: 'True', reason: 'x', message: 'x' };
    let writes = 0;
    const { status, err } = await world.run(verb(certificate, 'approve'), ['c'], {
      before: async ({ method }) => {
        if (method !== 'PUT' || writes++ > 0) return;
        const now = await world.send('GET', `${requests}/c`);
        await world.send('PUT', `${requests}/c/approval`, { ...now, status: { conditions: [denied] } });
      },
    });
    assert.equal(status, 1);
    assert.match(err, /already Denied/);
    assert.deepEqual(await decisions('c'), ['Denied']);
  });
});

describe('ctl add node', () => {
  let world: VerbWorld;
  before(async () => {
    world = await startVerbWorld();
  });
  after(() => world.stop());

  it('creates the Node of a name that does not wait, with a warning, and only once', async () => {
    const first = await world.run(verb(add, 'node') as never, ['n1']);
    assert.deepEqual([first.status, first.out], [0, 'node/n1 added\n']);
    assert.match(first.err, /^Warning: no machine named n1 waits for approval/);
    const second = await world.run(verb(add, 'node') as never, ['n1']);
    assert.deepEqual([second.out, second.err], ['node/n1 is in the cluster already\n', '']);
  });
});
