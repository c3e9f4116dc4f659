/**
 * Mistakes that beginners make with manifests, names, contexts and rights: the answer names the place, the
 * cause and what to do. test/e2e/beginners.test.ts has those that need containers.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createAuthority } from '../../../src/pki/x509.ts';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { commands, kubeconfigs, type Mistake, manifests } from './beginner-cases.ts';

let server: HttpsTestServer;
let ctl: Ctl;
let kubeconfig: string;
let directory: string;
before(async () => {
  server = await startHttpsTestServer();
  kubeconfig = await server.kubeconfigFor('admin', ['system:masters']);
  ctl = ctlFor(kubeconfig);
  directory = await mkdtemp(join(tmpdir(), 'minik8s-beginners-'));
  for (const line of [
    'create namespace shop',
    'create deployment elsewhere --image=i -n shop',
    'create deployment here --image=i',
    'run single --image=i',
    'create service nodeport taken --tcp=80 --node-port=30080',
  ])
    assert.equal((await ctl(line.split(' '))).err, '');
});
after(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

async function answers({ command, input = '', says, status = 1 }: Mistake): Promise<void> {
  const result = await ctl(command.replace('EMPTY', directory).split(' '), { stdin: input });
  for (const one of says) assert.match(result.err, one);
  assert.equal(result.status, status);
  assert.doesNotMatch(result.err, /\bat .*\.ts:\d+|undefined|\[object/);
}

describe('a manifest with', () => {
  for (const mistake of manifests) it(`${mistake.what} is answered with what to do`, () => answers(mistake));
});

describe('a command about', () => {
  for (const mistake of commands) it(`${mistake.what} is answered with what to do`, () => answers(mistake));
});

describe('a kubeconfig that', () => {
  for (const { what, change, says } of kubeconfigs)
    it(`${what} is answered with the file and what to do`, async () => {
      const file = join(directory, 'config');
      await writeFile(file, change(await readFile(kubeconfig, 'utf8')));
      const { err, status } = await ctlFor(file)(['get', 'pods']);
      assert.match(err.replaceAll(file, 'FILE'), says);
      assert.equal(status, 1);
    });

  it('has the certificate of another cluster is answered with the context and the cause', async () => {
    const authority = await createAuthority('other', Date.now() - 60_000, Date.now() + 3_600_000);
    const config = JSON.parse(await readFile(kubeconfig, 'utf8'));
    config.users[0].user = {
      'client-certificate-data': Buffer.from(authority.certificate).toString('base64'),
      'client-key-data': Buffer.from(authority.key).toString('base64'),
    };
    const file = join(directory, 'foreign');
    await writeFile(file, JSON.stringify(config));
    const { err, status } = await ctlFor(file)(['get', 'pods']);
    assert.match(err, /does not accept the client certificate of context \w+: another authority signed it/);
    assert.equal(status, 1);
  });

  it('$KUBECONFIG names but that does not exist is reported', async () => {
    const { err } = await ctlFor(undefined)(['get', 'pods'], { env: { KUBECONFIG: '/nonexistent' } });
    assert.match(err, /\$KUBECONFIG: \/nonexistent does not exist; correct it, or unset KUBECONFIG/);
  });
});
